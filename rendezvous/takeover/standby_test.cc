#include "rendezvous/takeover/standby.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "rendezvous/job/constituency.h"

namespace muster::rendezvous {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr uint64_t kOld = 7;
constexpr uint64_t kCandidate = (uint64_t{5} << kDrawnEpochBits) | 99;
constexpr WorldId kWorld = {.epoch = kOld, .round = 1};

// A standby and the nodes of round 1. Node k has group rank k, and all nodes
// have begun the round. A node promises a requested epoch only when the test
// calls Promise.
class Cluster {
 public:
  explicit Cluster(int nodes, Standby::Kind kind = Standby::Kind::kSuccessor)
      : standby_(kind, kCandidate) {
    for (int rank = 0; rank < nodes; ++rank) {
      Report& report = reports_.emplace_back();
      report.run_id = "train";
      report.node.node_id = absl::StrCat("n", rank);
      report.spec.min_nodes = report.spec.max_nodes = nodes;
      report.spec.takeover = Takeover::kMajority;
      report.place = Place{.round = kWorld.round,
                           .epoch = kWorld.epoch,
                           .group_rank = rank,
                           .group_world_size = nodes};
      report.promised_epoch = kOld;
      report.electorate = {
          .epoch = kOld, .world = kWorld, .nodes = nodes, .rank = rank};
    }
  }

  Report& report(int rank) { return reports_.at(rank); }
  // Adds a node that has never met a coordinator; returns its index.
  int AddFresh() {
    Report report = reports_.at(0);
    report.node.node_id = absl::StrCat("n", reports_.size());
    report.place.reset();
    report.promised_epoch = 0;
    report.electorate = Electorate();
    return Add(report);
  }
  // Adds the node that will send `report`; returns its index.
  int Add(const Report& report) {
    reports_.push_back(report);
    return static_cast<int>(reports_.size()) - 1;
  }
  // Advances the time by Recount::kInterval, so that the standby counts all
  // reports again, and then delivers the node's report.
  void Come(int rank) {
    now_ += Recount::kInterval;
    ComeAtOnce(rank);
  }
  // Delivers the node's report to the standby without advancing the time.
  void ComeAtOnce(int rank) {
    Take(standby_.Hear(now_, StreamOf(rank), reports_.at(rank)));
  }
  // Makes the node promise the epoch of its newest directive.
  void Promise(int rank) {
    reports_.at(rank).promised_epoch = told_.at(rank).epoch;
    Come(rank);
  }
  void Go(int rank) { standby_.Forget(StreamOf(rank)); }
  void Told(uint64_t epoch) { Take(standby_.Told(now_, epoch, "b:1")); }
  void TellMinority(uint64_t epoch) {
    Take(standby_.Told(now_, epoch, "b:1", Backing::kMinority));
  }
  // Delivers the announcement of another standby at `endpoint`, where `nodes`
  // nodes have gathered. The endpoint of this standby is "h:1".
  void Meet(const std::string& endpoint, int nodes) {
    Take(standby_.Meet(now_, {.endpoint = endpoint, .nodes = nodes}, "h:1"));
  }
  int Assembled() const { return standby_.Assembled(now_); }
  void Wait(Duration duration) { now_ += duration; }

  Standby& standby() { return standby_; }
  // The newest directive to a node; a default one if there is none.
  const Directive& told(int rank) { return told_[rank]; }
  std::optional<uint64_t> elected() const { return elected_; }

 private:
  static StreamId StreamOf(int rank) { return 100 + rank; }
  void Take(const Standby::Step& step) {
    for (const Delivery& delivery : step.deliveries) {
      told_[static_cast<int>(delivery.stream) - 100] = delivery.directive;
    }
    if (step.elected.has_value()) elected_ = step.elected;
  }

  Instant now_{std::chrono::hours(1)};
  Standby standby_;
  std::vector<Report> reports_;
  std::map<int, Directive> told_;
  std::optional<uint64_t> elected_;
};

TEST(StandbyTest, IsElectedOnceAMajorityHasPromised) {
  Cluster nodes(3);
  nodes.Come(1);
  EXPECT_EQ(nodes.told(1).kind, DirectiveKind::kStandBy);
  EXPECT_EQ(nodes.told(1).epoch, 0u);
  EXPECT_EQ(nodes.told(1).reason,
            "nodes that have come to this standby: 1; 1 of the 3 nodes of "
            "round 1");
  nodes.Come(2);
  EXPECT_EQ(nodes.told(1).epoch, kCandidate);
  EXPECT_EQ(nodes.told(2).epoch, kCandidate);
  nodes.Promise(1);
  EXPECT_EQ(nodes.elected(), std::nullopt);
  nodes.Promise(2);
  EXPECT_EQ(nodes.elected(), kCandidate);
  EXPECT_EQ(nodes.standby().reports().size(), 2u);
}

Directive HandingOver(uint64_t epoch, std::optional<uint64_t> number) {
  Directive directive;
  directive.epoch = epoch;
  directive.electorate.epoch = epoch;
  if (number.has_value()) directive.handover = Handover{.number = *number};
  return directive;
}

TEST(StandbyTest, KeepsTheNewestHandoverOfTheCoordinator) {
  Standby standby(Standby::Kind::kSuccessor, kCandidate);
  EXPECT_FALSE(standby.handover().has_value());
  standby.Learn(HandingOver(kOld, 2));
  standby.Learn(HandingOver(kOld, 1));
  EXPECT_EQ(standby.handover()->number, 2u) << "the second one was delayed";
  standby.Learn(HandingOver(kOld, 3));
  EXPECT_EQ(standby.handover()->number, 3u);
  standby.Learn(HandingOver(kCandidate, 1));
  EXPECT_EQ(standby.handover()->number, 1u) << "of another coordinator";
}

TEST(StandbyTest, AHandoverCountsUntilTheCoordinatorNamesOtherStandbys) {
  Standby standby(Standby::Kind::kSuccessor, kCandidate);
  standby.Learn(HandingOver(kOld, 2));
  Directive hold = HandingOver(kCandidate, std::nullopt);
  hold.electorate.epoch = 0;
  standby.Learn(hold);
  EXPECT_TRUE(standby.handover().has_value())
      << "a coordinator that collects reports names no standbys yet";
  standby.Learn(HandingOver(kCandidate, std::nullopt));
  EXPECT_FALSE(standby.handover().has_value());
}

// With many nodes, the standby does not count all reports after each report.
// But it must count them after the report that completes a majority: the fifth
// of nine.
TEST(StandbyTest, AMajorityIsFoundWithTheReportThatCompletesIt) {
  Cluster nodes(9);
  for (int rank = 0; rank < 9; ++rank) nodes.report(rank).spec.min_nodes = 1;
  for (int rank = 0; rank < 5; ++rank) {
    nodes.ComeAtOnce(rank);
    EXPECT_EQ(nodes.told(rank).epoch != 0, rank == 4) << rank;
  }
  for (int rank = 0; rank < 5; ++rank) {
    EXPECT_FALSE(nodes.elected().has_value()) << rank;
    nodes.Promise(rank);
  }
  EXPECT_TRUE(nodes.elected().has_value());
}

// A stranger may pretend to be several nodes. Nodes that report the same rank
// have only one vote together.
TEST(StandbyTest, NodesThatReportTheSameRankAreOneVoter) {
  for (const bool has_place : {false, true}) {
    Cluster nodes(5);
    for (const int stranger : {1, 2, 3, 4}) {
      Report& report = nodes.report(stranger);
      report.electorate.rank = 1;
      report.place->group_rank = 1;
      if (!has_place) report.place.reset();
      nodes.Come(stranger);
    }
    EXPECT_EQ(nodes.told(4).epoch, 0u);
    EXPECT_THAT(nodes.told(4).reason, HasSubstr("1 of the 5 nodes"));
  }
}

TEST(StandbyTest, ARankBeyondTheWorldIsNoVoter) {
  Cluster nodes(3);
  for (const int stranger : {1, 2}) {
    nodes.report(stranger).place.reset();
    nodes.report(stranger).electorate.rank = 2 + stranger;
    nodes.Come(stranger);
  }
  EXPECT_EQ(nodes.told(2).epoch, 0u);
}

TEST(StandbyTest, HalfIsNoMajority) {
  Cluster nodes(4);
  nodes.Come(1);
  nodes.Come(2);
  EXPECT_EQ(nodes.told(2).epoch, 0u);
  nodes.Come(3);
  EXPECT_NE(nodes.told(3).epoch, 0u);
}

TEST(StandbyTest, APromiseCountsWhileItsNodeIsHere) {
  Cluster nodes(3);
  nodes.Come(1);
  nodes.Come(2);
  nodes.Promise(1);
  nodes.Go(1);
  nodes.Promise(2);
  EXPECT_EQ(nodes.elected(), std::nullopt);
  // The election has ended, because no majority is left. When node 1 is back,
  // the next one begins.
  nodes.Come(1);
  EXPECT_EQ(nodes.elected(), std::nullopt);
  const uint64_t next = kCandidate + kDrawnEpochMask + 1;
  EXPECT_EQ(nodes.told(2).epoch, next);
  nodes.Promise(1);
  nodes.Promise(2);
  EXPECT_EQ(nodes.elected(), next);
}

// While an election runs, no nodes are sent to another standby. So an election
// ends once no majority is left: the remaining nodes can then gather at another
// standby.
TEST(StandbyTest, AnElectionEndsIfItsMajorityHasGone) {
  Cluster nodes(5);
  for (const int rank : {1, 2, 3}) nodes.Come(rank);
  nodes.Promise(1);
  EXPECT_EQ(nodes.Assembled(), 0);
  nodes.Go(3);
  nodes.Come(2);
  EXPECT_EQ(nodes.Assembled(), 2);
  EXPECT_EQ(nodes.told(2).epoch, 0u);
}

// A node has promised the epoch of an election, and connects again to the
// standby while the election still runs. The standby sends it a directive
// again. Without this directive the node would wait for ever.
TEST(StandbyTest, ANodeThatConnectsAgainDuringAnElectionIsAnswered) {
  Cluster nodes(4);
  for (const int rank : {1, 2, 3}) nodes.Come(rank);
  nodes.Promise(1);
  const uint64_t revision = nodes.told(1).revision;
  nodes.ComeAtOnce(1);
  EXPECT_EQ(nodes.told(1).revision, revision) << "it is connected";
  nodes.Go(1);
  nodes.ComeAtOnce(1);
  EXPECT_GT(nodes.told(1).revision, revision);
}

TEST(StandbyTest, ANodeWithTwoStreamsVotesOnce) {
  Cluster nodes(3);
  nodes.report(1).sequence = 5;
  nodes.Come(1);
  const int again = nodes.AddFresh();
  nodes.report(again) = nodes.report(1);
  nodes.report(again).sequence = 6;
  nodes.Come(again);
  EXPECT_EQ(nodes.told(again).epoch, 0u);
  EXPECT_EQ(nodes.standby().reports().size(), 1u);
  // The node's first connection now delivers a report that is older than the
  // node's newest one. The standby must ignore the older report.
  nodes.Come(1);
  EXPECT_EQ(nodes.standby().reports().begin()->second.sequence, 6u);
  nodes.Come(2);
  EXPECT_EQ(nodes.told(again).epoch, kCandidate);
}

TEST(StandbyTest, AStrangerDoesNotTakeANodesVote) {
  Cluster nodes(3);
  nodes.report(1).place_key = "secret";
  nodes.Come(1);
  const int stranger = nodes.AddFresh();
  nodes.report(stranger) = nodes.report(1);
  nodes.report(stranger).place_key = "guessed";
  nodes.report(stranger).sequence = 1'000'000;
  nodes.Come(stranger);
  ASSERT_EQ(nodes.standby().reports().size(), 1u);
  EXPECT_EQ(nodes.standby().reports().begin()->second.place_key, "secret");
  nodes.Come(2);
  EXPECT_NE(nodes.told(1).epoch, 0u);
}

TEST(StandbyTest, ANodeThatLeavesDoesNotVote) {
  Cluster nodes(3);
  nodes.report(1).leave = "SIGTERM";
  nodes.Come(1);
  nodes.Come(2);
  EXPECT_EQ(nodes.told(2).epoch, 0u);
  nodes.Come(0);
  EXPECT_NE(nodes.told(2).epoch, 0u);
}

TEST(StandbyTest, DrawsAboveEveryPromise) {
  Cluster nodes(3);
  nodes.report(1).promised_epoch = uint64_t{9} << kDrawnEpochBits;
  nodes.Come(1);
  nodes.Come(2);
  const uint64_t expected = (uint64_t{10} << kDrawnEpochBits) | 99;
  EXPECT_EQ(nodes.told(1).epoch, expected);
  // Node 0 has promised another standby a higher epoch than this standby has
  // requested so far, and connects only now. So this standby must request a
  // still higher epoch from all nodes.
  nodes.report(0).promised_epoch = uint64_t{20} << kDrawnEpochBits;
  nodes.Come(0);
  EXPECT_EQ(nodes.told(0).epoch, (uint64_t{21} << kDrawnEpochBits) | 99);
  EXPECT_EQ(nodes.told(1).epoch, nodes.told(0).epoch);
  nodes.Promise(1);
  nodes.Promise(2);
  EXPECT_EQ(nodes.elected(), nodes.told(0).epoch);
}

TEST(StandbyTest, AWorldThatMayHaveBegunNeedsItsOwnMajority) {
  // Nodes 0 and 1 are a majority of round 1. But node 0 has begun round 2 with
  // two other nodes, so the votes of round 2's nodes are needed, too.
  Cluster nodes(3);
  Report& report = nodes.report(0);
  report.place =
      Place{.round = 2, .epoch = kOld, .group_rank = 0, .group_world_size = 3};
  nodes.Come(0);
  nodes.Come(1);
  EXPECT_EQ(nodes.told(1).epoch, 0u);
  const int other = nodes.AddFresh();
  nodes.report(other).place = report.place;
  nodes.report(other).place->group_rank = 2;
  nodes.Come(other);
  EXPECT_NE(nodes.told(1).epoch, 0u);
}

TEST(StandbyTest, AMajorityOfANewerWorldDoesNotReplaceOneOfTheElectorate) {
  // Two of the three nodes of round 2 connect. Both report that the electorate
  // (the nodes whose votes count) is still that of round 1. But no node of
  // round 1 connects, so this standby must ask for no promise (epoch 0).
  Cluster nodes(3);
  for (int i = 0; i < 2; ++i) {
    const int other = nodes.AddFresh();
    Report& report = nodes.report(other);
    report.place = Place{
        .round = 2, .epoch = kOld, .group_rank = i, .group_world_size = 3};
    report.electorate = nodes.report(0).electorate;
    report.electorate.rank = -1;
    nodes.Come(other);
    EXPECT_EQ(nodes.told(other).epoch, 0u);
  }
}

TEST(StandbyTest, AnOlderWorldNeedsNoMajority) {
  Cluster nodes(5);
  // Round 2 has begun on nodes 0 to 2. Nodes 0 and 1 know this: they report the
  // three nodes of round 2 as the electorate (the nodes whose votes count). So
  // an election needs two nodes of round 2, and no majority of the five nodes
  // of round 1.
  for (int rank : {0, 1}) {
    Report& report = nodes.report(rank);
    report.place->round = 2;
    report.place->group_world_size = 3;
    report.electorate.world.round = 2;
    report.electorate.nodes = 3;
  }
  nodes.Come(4);
  nodes.Come(0);
  EXPECT_EQ(nodes.told(0).epoch, 0u);
  nodes.Come(1);
  EXPECT_NE(nodes.told(0).epoch, 0u);
}

TEST(StandbyTest, AWorldOfAnEarlierCoordinatorIsVoid) {
  // Node 0 reports a world of round 2, formed by a coordinator with an old
  // epoch. Node 1 has been told the electorate of round 1 by a later
  // coordinator, whose epoch is 8. So the world of round 2 is void, and no
  // majority of its nodes is needed.
  Cluster nodes(3);
  nodes.report(1).electorate.epoch = 8;
  nodes.report(0).place =
      Place{.round = 2, .epoch = kOld, .group_rank = 0, .group_world_size = 3};
  nodes.Come(0);
  nodes.Come(1);
  EXPECT_NE(nodes.told(1).epoch, 0u);
}

// The agents of some nodes of round 1 were restarted, so these nodes have lost
// their place. They have then met a founder (a coordinator that begins the job
// anew). It knows no round, and its random epoch is higher than that of round
// 1. Nevertheless, the votes of the nodes of round 1 must still count.
TEST(StandbyTest, AFirstCoordinatorWithoutARoundVoidsNoWorld) {
  for (const int survivors : {1, 2}) {
    Cluster nodes(3);
    for (int rank = 0; rank < 3; ++rank) {
      Report& report = nodes.report(rank);
      report.spec.takeover =
          survivors == 1 ? Takeover::kAuto : Takeover::kMajority;
      if (rank < 3 - survivors) {
        report.place.reset();
        report.promised_epoch = kOld + 5;
        report.electorate = {.epoch = kOld + 5};
      }
      nodes.Come(rank);
    }
    EXPECT_GT(nodes.told(2).epoch, kDrawnEpochMask) << survivors;
  }
}

TEST(StandbyTest, ARestartedAgentThatHasMetAFirstCoordinatorVotes) {
  Cluster nodes(4);
  for (int rank = 0; rank < 4; ++rank) {
    Report& report = nodes.report(rank);
    report.spec.takeover = Takeover::kAuto;
    report.electorate.members = {"n0", "n1", "n2", "n3"};
  }
  Report& restarted = nodes.report(0);
  restarted.place.reset();
  restarted.electorate = {.epoch = kOld + 5};
  restarted.promised_epoch = kOld + 5;
  for (const int rank : {1, 2, 0}) {
    nodes.report(rank).spec.max_nodes = 6;
    nodes.Come(rank);
  }
  EXPECT_NE(nodes.told(0).epoch, 0u);
}

// Restarted agents have been told an electorate in which they have no rank.
// They are no spares, so only one node can be elsewhere once three of four have
// come.
TEST(StandbyTest, ARestartedAgentThatKnowsTheElectorateIsNoSpare) {
  Cluster nodes(4);
  for (int rank = 0; rank < 4; ++rank) {
    nodes.report(rank).spec.takeover = Takeover::kAuto;
  }
  for (const int restarted : {0, 1}) {
    nodes.report(restarted).place.reset();
    nodes.report(restarted).electorate.rank = -1;
  }
  for (const int rank : {0, 1, 2}) {
    nodes.Come(rank);
    EXPECT_EQ(nodes.told(rank).epoch != 0, rank == 2);
  }
}

TEST(StandbyTest, ANodeOfAnOlderElectorateDoesNotVote) {
  Cluster nodes(3);
  nodes.report(1).electorate.world.round = 5;
  nodes.report(1).electorate.rank = -1;
  nodes.report(1).electorate.nodes = 2;
  nodes.Come(1);
  nodes.Come(2);
  EXPECT_EQ(nodes.told(2).epoch, 0u);
}

// Three of the job's four nodes are connected to this standby, so at most one
// node is connected to another standby. This one node could be half of a world
// of two nodes. With min_nodes 3 no such world exists, so an election begins
// (only with Takeover::kAuto).
TEST(StandbyTest, EnoughNodesReplaceAMajorityIfTooFewCanBeElsewhere) {
  for (const Takeover takeover : {Takeover::kAuto, Takeover::kMajority}) {
    for (const int min_nodes : {1, 2, 3}) {
      Cluster nodes(4);
      const int fresh = nodes.AddFresh();
      const int another = nodes.AddFresh();
      for (const int node : {1, fresh, another}) {
        nodes.report(node).spec.takeover = takeover;
        nodes.report(node).spec.min_nodes = min_nodes;
        nodes.Come(node);
      }
      EXPECT_EQ(nodes.told(1).epoch != 0,
                takeover == Takeover::kAuto && min_nodes == 3)
          << min_nodes;
    }
  }
}

// The job has at most six nodes, and four are connected to this standby. So at
// most two nodes of the world are connected to another standby. In a world of
// four, they are half of the world, so this standby must ask for no promise
// (epoch 0). In a world of five, they are less than half, so this standby asks
// for a promise.
TEST(StandbyTest, EnoughNodesReplaceNoMajorityThatHalfOfTheWorldMayDeny) {
  for (const int world : {4, 5}) {
    Cluster nodes(world);
    std::vector<int> here = {1};
    while (here.size() < 4) here.push_back(nodes.AddFresh());
    for (const int node : here) {
      nodes.report(node).spec.takeover = Takeover::kAuto;
      nodes.report(node).spec.min_nodes = 4;
      nodes.report(node).spec.max_nodes = 6;
      nodes.Come(node);
    }
    EXPECT_EQ(nodes.told(1).epoch != 0, world == 5) << world;
  }
}

TEST(StandbyTest, NodesElsewhereThatAreAsManyAsThoseHereAreNotTooFew) {
  Cluster nodes(6);
  for (int node = 0; node < 4; ++node) {
    Report& report = nodes.report(node);
    report.spec.takeover = Takeover::kAuto;
    report.spec.min_nodes = 4;
    // This node has promised the epoch of an elected coordinator. But it knows
    // no electorate (the nodes whose votes count), because that coordinator has
    // sent none.
    report.place.reset();
    report.electorate = Electorate();
    report.promised_epoch = kDrawnEpochMask + 1;
    nodes.Come(node);
    EXPECT_EQ(nodes.told(node).epoch != 0, node == 3) << node;
  }
}

// Returns a standby and a world of `world` nodes. Node 0 was restarted and has
// forgotten the world. Nodes 1 to `remembering` remember it. Only these nodes
// and node 0 are connected. max_nodes is world + 1, and min_nodes is more than
// half of max_nodes.
Cluster WithAReturnedNode(int world, int remembering,
                          Takeover takeover = Takeover::kAuto) {
  Cluster nodes(world);
  std::vector<std::string> members;
  for (int rank = 0; rank < world; ++rank) {
    members.push_back(absl::StrCat("n", rank));
  }
  for (int rank = 0; rank < world; ++rank) {
    Report& report = nodes.report(rank);
    report.spec.takeover = takeover;
    report.spec.max_nodes = world + 1;
    report.spec.min_nodes = report.spec.max_nodes / 2 + 1;
    report.electorate.members = members;
  }
  Report& returned = nodes.report(0);
  returned.place.reset();
  returned.promised_epoch = 0;
  returned.electorate = Electorate();
  for (int rank = 0; rank <= remembering; ++rank) nodes.Come(rank);
  return nodes;
}

TEST(StandbyTest, ANodeThatWasStartedAgainVotesBesideHalfOfItsWorld) {
  struct Case {
    int world;
    int remembering;
    Takeover takeover;
    bool is_majority;
  };
  for (const Case& one :
       {Case{2, 1, Takeover::kAuto, true}, Case{4, 2, Takeover::kAuto, true},
        Case{2, 1, Takeover::kMajority, false},
        Case{3, 1, Takeover::kAuto, false},
        Case{5, 2, Takeover::kAuto, false}}) {
    Cluster nodes = WithAReturnedNode(one.world, one.remembering, one.takeover);
    EXPECT_EQ(nodes.told(1).epoch != 0, one.is_majority)
        << one.remembering << " of " << one.world;
  }
}

// Round 2 begins without node 2. The coordinator, node 0, is killed before all
// nodes of round 2 have begun it. So the electorate is still that of round 1.
TEST(StandbyTest, ANodeThatWasStartedAgainVotesInARoundThatMayHaveBegun) {
  for (const bool is_listed : {true, false}) {
    Cluster nodes(3);
    for (const int rank : {0, 1}) {
      Report& report = nodes.report(rank);
      report.spec.takeover = Takeover::kAuto;
      report.spec.min_nodes = 2;
    }
    Report& survivor = nodes.report(1);
    survivor.electorate.members = {"n0", "n1", "n2"};
    survivor.place->round = 2;
    survivor.place->group_world_size = 2;
    if (is_listed) survivor.place->members = {"n0", "n1"};
    Report& returned = nodes.report(0);
    returned.place.reset();
    returned.promised_epoch = 0;
    returned.electorate = Electorate();
    nodes.Come(0);
    nodes.Come(1);
    // Round 2 has two nodes, one of which is node 1. With is_listed, the report
    // of node 1 shows that node 0 is the other one. Then all nodes of round 2
    // are connected, so the standby asks for a promise. Without the list, the
    // other node may be connected to another standby, so this standby asks for
    // none (epoch 0).
    EXPECT_EQ(nodes.told(1).epoch != 0, is_listed);
  }
}

TEST(CandidatesOfTest, AreTheNodesOfBothLists) {
  const std::vector<std::string> electorate = {"a", "b", "c", "d"};
  EXPECT_EQ(CandidatesOf(4, electorate, {"b", "x", "a"}), 2);
  EXPECT_EQ(CandidatesOf(4, electorate, {}), 4) << "the world is not listed";
  EXPECT_EQ(CandidatesOf(4, {}, {"a"}), 4) << "the electorate is not listed";
  EXPECT_EQ(CandidatesOf(4, electorate, {"a", ""}), 4);
  EXPECT_EQ(CandidatesOf(4, {"a", "", "c", "d"}, {"a"}), 4);
}

// The coordinator was lost while it began round 2 of an elastic job. Only node
// 1 has received the order to run round 2. Nodes 2 and 3 know only round 1,
// whose four nodes are the electorate. If it is certain that node 2 or node 3
// is a member of round 2, this round can never begin on all of its nodes. Then
// nodes 1, 2 and 3 elect, as a majority of the electorate. Otherwise a majority
// of round 2 is needed, too, and too few nodes of round 2 are connected.
TEST(StandbyTest, ARoundThatAMemberHasNotLearnedOfDoesNotElect) {
  const std::vector<std::string> listed = {"n0", "n1", "n2", "n3"};
  struct Case {
    int electors;
    std::vector<std::string> electorate;
    std::vector<std::string> world;
    bool elect;
  };
  for (const Takeover takeover : {Takeover::kMajority, Takeover::kAuto}) {
    for (const Case& one :
         {Case{4, {}, {}, true}, Case{3, {}, {}, true}, Case{2, {}, {}, false},
          Case{3, listed, {"n4", "n1", "n2", "n3"}, true},
          // Nodes 2 and 3 are not members of round 2.
          Case{2, listed, {"n0", "n1", "n4", "n5"}, false},
          // One of the nodes 0, 1 and 2 was started again after round 1.
          Case{2, listed, {"n0", "n1", "n2", "n5"}, false}}) {
      Cluster nodes(4);
      for (const int rank : {1, 2, 3}) {
        Report& report = nodes.report(rank);
        report.spec.takeover = takeover;
        report.spec.min_nodes = 2;
        report.spec.max_nodes = 6;
        report.electorate.members = one.electorate;
      }
      Place& place = *nodes.report(1).place;
      place.round = 2;
      place.members = one.world;
      place.electors = one.electors;
      Report spare = nodes.report(0);
      spare.node.node_id = "n9";
      spare.electorate.rank = -1;
      spare.place.reset();
      const int other = nodes.Add(spare);
      for (const int rank : {other, 1, 2, 3}) nodes.Come(rank);
      EXPECT_EQ(nodes.told(3).epoch != 0, one.elect)
          << one.electors << one.world.size();
    }
  }
}

TEST(ElectorRankTest, IsThatInTheNodesWorldOrTheOneBefore) {
  Report report;
  report.place = Place{.round = 3, .epoch = kOld, .group_rank = 1};
  report.previous_world = {.epoch = kOld, .round = 2};
  report.previous_rank = 4;
  EXPECT_EQ(ElectorRank(report, {.epoch = kOld, .round = 3}), 1);
  EXPECT_EQ(ElectorRank(report, {.epoch = kOld, .round = 2}), 4);
  EXPECT_EQ(RankOf(report, {.epoch = kOld, .round = 2}), -1);
  EXPECT_EQ(ElectorRank(report, {.epoch = kOld, .round = 1}), -1);
}

TEST(UnawareRankTest, IsThatOfAnElectorThatMayBelongToALaterWorld) {
  const Place world = {.round = 3,
                       .epoch = kOld,
                       .group_world_size = 2,
                       .members = {"n0", "n1"}};
  Cluster nodes(2);
  const Report& unaware = nodes.report(1);
  EXPECT_EQ(UnawareRank(unaware, world, kWorld), 1);
  Report other = unaware;
  other.node.node_id = "n9";
  EXPECT_EQ(UnawareRank(other, world, kWorld), -1) << "it is not listed";
  other = unaware;
  other.place->round = 3;
  EXPECT_EQ(UnawareRank(other, world, kWorld), -1) << "it knows the world";
  other.place->round = 4;
  EXPECT_EQ(UnawareRank(other, world, kWorld), -1)
      << "it has begun a newer one";
  other = unaware;
  other.place.reset();
  other.electorate.rank = -1;
  EXPECT_EQ(UnawareRank(other, world, kWorld), -1) << "it is no elector";
}

TEST(IsUnawareMemberTest, TheAgentThatWasInTheWorldAndDoesNotKnowItIs) {
  Place world = {.round = 3,
                 .epoch = kOld,
                 .group_world_size = 2,
                 .members = {"n0", "n1"},
                 .incarnations = {0, 7}};
  Report report;
  report.node.node_id = "n1";
  report.node.incarnation = 7;
  EXPECT_TRUE(IsUnawareMember(report, world));
  Report other = report;
  other.node.incarnation = 8;
  EXPECT_FALSE(IsUnawareMember(other, world)) << "it was started again";
  other = report;
  other.node.node_id = "n0";
  EXPECT_FALSE(IsUnawareMember(other, world)) << "its incarnation is unknown";
  other.node.node_id = "n2";
  EXPECT_FALSE(IsUnawareMember(other, world)) << "it is not listed";
  other = report;
  other.place = world;
  other.place->group_rank = 1;
  EXPECT_FALSE(IsUnawareMember(other, world)) << "it knows the world";
  other.place->round = 4;
  EXPECT_FALSE(IsUnawareMember(other, world)) << "it has begun a newer one";
  world.incarnations.clear();
  EXPECT_FALSE(IsUnawareMember(report, world));
}

// The coordinator was lost while it began round 2 with nodes 0 and 1 of the
// four electors, and the new nodes 4 and 5. Only node 1 has received the order.
TEST(StandbyTest, ARoundThatANewMemberHasNotLearnedOfDoesNotElect) {
  for (const bool is_same : {true, false}) {
    Cluster nodes(4);
    Place& place = *nodes.report(1).place;
    place.round = 2;
    place.members = {"n0", "n1", "n4", "n5"};
    place.electors = 2;
    Report added = nodes.report(2);
    added.node.node_id = "n4";
    added.node.incarnation = 74;
    added.electorate.rank = -1;
    added.place.reset();
    place.incarnations = {0, 0, is_same ? 74u : 73u, 0};
    const int last = nodes.Add(added);
    for (const int rank : {last, 1, 2, 3}) nodes.Come(rank);
    EXPECT_EQ(nodes.told(3).epoch != 0, is_same);
  }
}

// Place::electors of round 1 is the number of its nodes that belonged to an
// earlier electorate. No connected node knows that electorate. So this number
// is ignored, and a majority of round 1 elects the coordinator.
TEST(StandbyTest, ARoundWhoseElectorateIsUnknownElects) {
  Cluster nodes(3);
  for (const int rank : {1, 2}) {
    nodes.report(rank).electorate = Electorate();
    nodes.report(rank).place->electors = 3;
  }
  nodes.Come(1);
  EXPECT_EQ(nodes.told(1).reason,
            "nodes that have come to this standby: 1; 1 of the 3 nodes of "
            "round 1");
  nodes.Come(2);
  EXPECT_NE(nodes.told(2).epoch, 0u);
}

// Three of the five electors belong to round 2. Nodes 0, 2 and 3 have not
// learned of round 2, but count as only two electors, because nodes 0 and 2
// report the same rank (which only a fault can cause). So it may be that none
// of them belongs to round 2.
TEST(StandbyTest, TwoUnawareNodesOfOneRankAreOneElector) {
  Cluster nodes(5);
  Place& place = *nodes.report(1).place;
  place.round = 2;
  place.group_world_size = 7;
  place.electors = 3;
  nodes.report(0).place->group_rank = nodes.report(0).electorate.rank = 2;
  for (const int rank : {0, 1, 2, 3}) nodes.Come(rank);
  EXPECT_EQ(nodes.told(3).epoch, 0u) << "these two may be no members";
  nodes.Come(4);
  EXPECT_NE(nodes.told(4).epoch, 0u);
}

// Node 1 alone is in round 3. Node 4 knows round 2, which the same coordinator
// had formed before. The electorate is still that of round 1.
TEST(StandbyTest, OnlyTheNewestRoundAfterTheElectorateElects) {
  Cluster nodes(4);
  for (const int rank : {1, 2, 3}) nodes.report(rank).spec.min_nodes = 1;
  Report older = nodes.report(1);
  older.node.node_id = "n4";
  older.electorate.rank = -1;
  older.place->round = 2;
  older.place->group_rank = 0;
  older.place->group_world_size = 3;
  Place& place = *nodes.report(1).place;
  place.round = 3;
  place.group_rank = 0;
  place.group_world_size = 1;
  const int other = nodes.Add(older);
  for (const int rank : {other, 1, 2, 3}) nodes.Come(rank);
  EXPECT_NE(nodes.told(3).epoch, 0u);
}

TEST(StandbyTest, ASpareThatKnowsTheElectorateDoesNotVote) {
  Cluster nodes(3);
  for (const int rank : {1, 2}) {
    nodes.report(rank).spec.takeover = Takeover::kMajority;
  }
  nodes.report(2).place.reset();
  nodes.report(2).electorate.rank = -1;
  nodes.Come(1);
  nodes.Come(2);
  EXPECT_EQ(nodes.told(1).epoch, 0u);
}

TEST(StandbyTest, NoReturnedNodeVotesIfTwoGroupsCanExist) {
  Cluster nodes = WithAReturnedNode(4, 1);
  for (int rank = 0; rank < 4; ++rank) nodes.report(rank).spec.min_nodes = 2;
  for (const int rank : {0, 1, 2}) nodes.Come(rank);
  EXPECT_EQ(nodes.told(1).epoch, 0u);
  nodes.Come(3);
  EXPECT_NE(nodes.told(1).epoch, 0u) << "3 of 4 remember the world";
}

TEST(StandbyTest, AReturnedNodeWhoseRankHasVotedIsNoVoter) {
  Cluster nodes = WithAReturnedNode(4, 1);
  Report& stranger = nodes.report(2);
  stranger.place.reset();
  stranger.electorate.rank = 0;
  nodes.Come(2);
  // Node 2 claims the rank of node 0, so only one of the two may vote. With
  // node 1, 2 of the 4 nodes vote, which is no majority. So the standby must
  // ask for no promise (epoch 0).
  EXPECT_EQ(nodes.told(2).epoch, 0u);
}

TEST(StandbyTest, ANodeOfNoListDoesNotVote) {
  Cluster nodes = WithAReturnedNode(4, 1);
  nodes.Go(0);
  nodes.report(3).place.reset();
  nodes.report(3).electorate = Electorate();
  nodes.report(3).node.node_id = "another";
  for (const int rank : {3, 2}) nodes.Come(rank);
  EXPECT_EQ(nodes.told(1).epoch, 0u) << "2 of 4 remember the world";
  nodes.Come(0);
  EXPECT_NE(nodes.told(1).epoch, 0u);
}

TEST(StandbyTest, TheSmallerAssemblyGoesToTheLarger) {
  Cluster nodes(5);
  nodes.Come(1);
  nodes.Come(2);
  EXPECT_EQ(nodes.Assembled(), 2);
  nodes.Meet("b:1", 1);
  nodes.Meet("a:1", 1);
  nodes.Meet("z:1", 2);
  EXPECT_EQ(nodes.Assembled(), 2);
  // as many nodes as this standby ("h:1"), and "b:1" sorts before "h:1"
  nodes.Meet("b:1", 2);
  EXPECT_EQ(nodes.Assembled(), 0);
  for (const int node : {1, 2}) {
    EXPECT_EQ(nodes.told(node).kind, DirectiveKind::kMoved);
    EXPECT_THAT(nodes.told(node).standbys, ElementsAre("b:1"));
    EXPECT_THAT(nodes.told(node).reason, HasSubstr("gathered at b:1"));
  }
}

TEST(StandbyTest, ANodeThatComesBackFromALargerAssemblyStays) {
  Cluster nodes(5);
  nodes.ComeAtOnce(1);
  nodes.Meet("z:1", 2);
  nodes.ComeAtOnce(1);
  nodes.Wait(Standby::kStaysFor - std::chrono::milliseconds(1));
  nodes.Meet("z:1", 2);
  EXPECT_EQ(nodes.Assembled(), 1);
  nodes.Wait(std::chrono::milliseconds(1));
  nodes.Meet("z:1", 2);
  EXPECT_EQ(nodes.Assembled(), 0);
}

TEST(StandbyTest, NodesThatWereAskedForAPromiseStay) {
  Cluster nodes(3);
  nodes.Come(1);
  nodes.Come(2);
  EXPECT_EQ(nodes.Assembled(), 0);
  nodes.Meet("a:1", 3);
  EXPECT_EQ(nodes.told(2).kind, DirectiveKind::kStandBy);
}

TEST(StandbyTest, AStandbyThatKnowsACoordinatorHasNoAssembly) {
  Cluster nodes(5);
  nodes.Come(1);
  nodes.standby().Follow(Standby::Leader{.endpoint = "c:1", .epoch = kOld});
  EXPECT_EQ(nodes.Assembled(), 0);
}

// At least three of at most four nodes must have come. A node that has waited
// beside the round counts, unless it may be a spare.
TEST(StandbyTest, SparesAreNotAmongTheNodesThatReplaceAMajority) {
  for (const bool is_spare : {true, false}) {
    Cluster nodes(4);
    const int fresh = nodes.AddFresh();
    const int waiting = nodes.AddFresh();
    nodes.report(waiting).electorate = nodes.report(0).electorate;
    nodes.report(waiting).electorate.rank = -1;
    nodes.report(waiting).electorate.is_spare = is_spare;
    for (const int node : {1, fresh, waiting}) {
      nodes.report(node).spec.takeover = Takeover::kAuto;
      nodes.report(node).spec.min_nodes = 3;
      nodes.Come(node);
    }
    EXPECT_EQ(nodes.told(waiting).epoch == 0, is_spare);
  }
}

TEST(IsSpareTest, ASpareIsNoneOnceItHasAPlace) {
  Report report;
  EXPECT_FALSE(IsSpare(report));
  report.electorate.is_spare = true;
  EXPECT_TRUE(IsSpare(report));
  report.place = Place();
  EXPECT_FALSE(IsSpare(report));
}

// Only node 0 has learned of the first round, which lists its agents. Nodes 1
// and 2 belong to it. If their agents were started again, only one of three
// voting nodes remembers its promises, too few for an election.
TEST(StandbyTest, AListedAgentThatHasNotLearnedOfTheRoundVotes) {
  for (const bool is_same : {true, false}) {
    Cluster nodes(4);
    for (int rank = 0; rank < 4; ++rank) {
      Report& report = nodes.report(rank);
      report.node.incarnation = 70 + rank;
      report.spec.takeover = Takeover::kAuto;
      report.spec.max_nodes = 7;
      if (rank == 0) {
        report.electorate.members = {"n0", "n1", "n2", "n3"};
        report.electorate.incarnations = {70, is_same ? 71u : 61u,
                                          is_same ? 72u : 62u, 73};
      } else {
        report.place.reset();
        report.electorate = {.epoch = kOld};
      }
    }
    nodes.Come(0);
    nodes.Come(2);
    EXPECT_EQ(nodes.told(0).epoch, 0u);
    nodes.Come(1);
    EXPECT_EQ(nodes.told(1).epoch != 0, is_same);
  }
}

TEST(StandbyTest, SendsNodesToTheCoordinatorThatItFollows) {
  Cluster nodes(3);
  nodes.standby().Follow(Standby::Leader{"a:29400", kOld});
  nodes.Come(1);
  EXPECT_EQ(nodes.told(1).kind, DirectiveKind::kMoved);
  EXPECT_EQ(nodes.told(1).standbys.front(), "a:29400");
  EXPECT_THAT(nodes.standby().reports(), IsEmpty());
  nodes.standby().Follow(std::nullopt);
  nodes.Come(1);
  EXPECT_EQ(nodes.told(1).kind, DirectiveKind::kStandBy);
}

TEST(StandbyTest, SendsNodesToACoordinatorThatAnnouncesItself) {
  Cluster nodes(3);
  nodes.Come(1);
  nodes.Told(kOld - 1);
  EXPECT_EQ(nodes.told(1).kind, DirectiveKind::kStandBy)
      << "the node obeys no such epoch";
  nodes.Told(kOld + 1);
  EXPECT_EQ(nodes.told(1).kind, DirectiveKind::kMoved);
  EXPECT_THAT(nodes.standby().reports(), IsEmpty());
  nodes.Come(2);
  EXPECT_EQ(nodes.told(2).kind, DirectiveKind::kMoved);
  nodes.Wait(Standby::kToldFor);
  nodes.Come(2);
  EXPECT_EQ(nodes.told(2).kind, DirectiveKind::kStandBy);
}

TEST(StandbyTest, ACoordinatorWithoutAMajorityGetsNodesThatKnowNoRound) {
  Cluster nodes(3);
  nodes.Come(1);
  nodes.TellMinority(kCandidate);
  EXPECT_EQ(nodes.told(1).kind, DirectiveKind::kStandBy);
  nodes.Go(1);
  const int fresh = nodes.AddFresh();
  nodes.Come(fresh);
  nodes.TellMinority(kCandidate);
  EXPECT_EQ(nodes.told(fresh).kind, DirectiveKind::kMoved);
}

TEST(StandbyTest, AFounderBeginsANewJobAtOnce) {
  Cluster nodes(3, Standby::Kind::kFounder);
  nodes.Come(nodes.AddFresh());
  EXPECT_EQ(nodes.elected(), kCandidate & kDrawnEpochMask);
}

TEST(StandbyTest, AFounderOfAJobThatRunsNeedsAMajority) {
  Cluster nodes(3, Standby::Kind::kFounder);
  nodes.Come(1);
  nodes.Come(nodes.AddFresh());
  EXPECT_EQ(nodes.elected(), std::nullopt);
  EXPECT_EQ(nodes.told(1).epoch, 0u);
}

TEST(StandbyTest, ASuccessorBeginsNoNewJob) {
  Cluster nodes(3);
  const int fresh = nodes.AddFresh();
  nodes.report(fresh).spec.min_nodes = 2;
  nodes.Come(fresh);
  EXPECT_EQ(nodes.elected(), std::nullopt);
  nodes.Go(fresh);
  for (int i = 0; i < 3; ++i) {
    nodes.report(i).spec.min_nodes = 1;
    nodes.report(i).place.reset();
    nodes.report(i).electorate = Electorate();
    nodes.Come(i);
  }
  EXPECT_EQ(nodes.told(2).epoch, 0u);
}

TEST(StandbyTest, BeforeAnyRoundEnoughNodesAreAMajorityAtTheFounder) {
  for (const auto kind : {Standby::Kind::kFounder, Standby::Kind::kSuccessor}) {
    Cluster nodes(3, kind);
    for (int i = 0; i < 3; ++i) {
      nodes.report(i).place.reset();
      nodes.report(i).electorate = Electorate();
      nodes.Come(i);
      EXPECT_EQ(nodes.told(i).epoch != 0,
                i == 2 && kind == Standby::Kind::kFounder);
    }
    if (kind != Standby::Kind::kFounder) continue;
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(nodes.elected(), std::nullopt);
      nodes.Promise(i);
    }
    EXPECT_EQ(nodes.elected(), kCandidate);
  }
}

// Nodes of a job with max_nodes 5 have lost their coordinator before any round,
// and connect to a successor. With min_nodes 3, three nodes elect it: the other
// nodes are at most two, too few for a world. The successor is never elected in
// each of these cases:
//   - min_nodes is 2: two worlds of the job could run at once.
//   - Takeover::kMajority: a majority of a world must elect, and there is none.
//   - No node has met the founder: the founder may still be starting.
TEST(StandbyTest, BeforeAnyRoundASuccessorNeedsThatOtherNodesAreTooFew) {
  struct Case {
    Takeover takeover = Takeover::kAuto;
    int min_nodes = 3;
    // the highest epoch that the nodes have promised to obey; 0: no node has
    // met the founder, the job's first coordinator
    uint64_t promised = kOld;
    // number of connected nodes at which the successor is elected; 0: the
    // successor is never elected
    int needed = 0;
  };
  for (const Case& one :
       {Case{.needed = 3}, Case{.promised = 0},
        Case{.takeover = Takeover::kMajority}, Case{.min_nodes = 2}}) {
    Cluster nodes(7);
    for (int i = 0; i < 5; ++i) {
      Report& report = nodes.report(i);
      report.place.reset();
      report.electorate = Electorate();
      report.promised_epoch = one.promised;
      report.spec.takeover = one.takeover;
      report.spec.min_nodes = one.min_nodes;
      report.spec.max_nodes = 5;
      nodes.ComeAtOnce(i);
      EXPECT_EQ(nodes.told(i).epoch != 0, i + 1 == one.needed) << i;
      if (i + 1 == one.needed) break;
    }
  }
}

TEST(StandbyTest, NodesThatAnElectedCoordinatorToldOfNoElectorateAreCounted) {
  Cluster nodes(4);
  for (int i = 0; i < 4; ++i) {
    Report& report = nodes.report(i);
    report.place.reset();
    report.electorate = Electorate();
    report.spec.takeover = Takeover::kAuto;
    report.spec.min_nodes = 2;
    nodes.Come(i);
    EXPECT_EQ(nodes.told(i).epoch, 0u) << i;
  }
  nodes.report(3).promised_epoch = kDrawnEpochMask + 1;
  nodes.Come(3);
  EXPECT_NE(nodes.told(3).epoch, 0u);
}

TEST(StandbyTest, AFounderThatWasToldOfAnotherCoordinatorFoundsNothing) {
  Cluster nodes(3, Standby::Kind::kFounder);
  nodes.Told(kOld);
  nodes.Wait(Standby::kToldFor);
  const int fresh = nodes.AddFresh();
  nodes.Come(fresh);
  EXPECT_EQ(nodes.elected(), std::nullopt);
}

// The agents of nodes 0 and 1 were restarted, and have been told that they are
// not in the electorate, which is the world of round 1. With is_spare, nodes 4
// and 5 have their places in round 2, so nodes 0 and 1 may be spares.
TEST(StandbyTest, ANodeThatWasReplacedMayBeASpare) {
  for (const bool is_spare : {true, false}) {
    Cluster nodes(4);
    for (int rank = 0; rank < 4; ++rank) {
      Report& report = nodes.report(rank);
      report.spec.takeover = Takeover::kAuto;
      report.electorate.members = {"n0", "n1", "n2", "n3"};
    }
    for (const int restarted : {0, 1}) {
      nodes.report(restarted).place.reset();
      nodes.report(restarted).electorate.rank = -1;
      nodes.report(restarted).electorate.is_spare = is_spare;
    }
    if (is_spare) {
      Place& place = *nodes.report(2).place;
      place.round = 2;
      place.members = {"n4", "n5", "n2", "n3"};
    }
    for (const int rank : {0, 1, 2}) nodes.Come(rank);
    EXPECT_EQ(nodes.told(2).epoch == 0, is_spare);
  }
}

// All agents were started again since the founder learned of another
// coordinator, so nobody knows the job.
TEST(StandbyTest, AFormerFounderIsElectedOnceTooFewNodesAreElsewhere) {
  struct Case {
    Standby::Kind kind = Standby::Kind::kFormerFounder;
    Takeover takeover = Takeover::kAuto;
    int min_nodes = 3;
  };
  for (const Case& one :
       {Case{}, Case{.kind = Standby::Kind::kSuccessor},
        Case{.takeover = Takeover::kMajority}, Case{.min_nodes = 2}}) {
    Cluster nodes(0, one.kind);
    nodes.Told(kOld);
    nodes.Wait(Standby::kToldFor);
    // number of nodes with which the standby is elected; 5: more than the 4
    // nodes of this test, so the standby is never elected
    const int needed = one.kind != Standby::Kind::kFormerFounder ? 5
                       : one.takeover != Takeover::kAuto         ? 5
                       : one.min_nodes == 3                      ? 3
                                                                 : 4;
    for (int i = 0; i < 4; ++i) {
      Report report;
      report.node.node_id = absl::StrCat("n", i);
      report.spec.min_nodes = one.min_nodes;
      report.spec.max_nodes = 4;
      report.spec.takeover = one.takeover;
      nodes.Add(report);
      nodes.Come(i);
      EXPECT_EQ(nodes.told(i).epoch != 0, i + 1 >= needed);
    }
    EXPECT_EQ(nodes.elected(), std::nullopt) << "none has promised";
  }
}

TEST(StandbyTest, NodesOfTheNewestRoundAreReplayedFirst) {
  Cluster cluster(4);
  const int fresh = cluster.AddFresh();
  cluster.report(1).place->epoch = kOld + 5;
  cluster.report(2).place->epoch = kOld + 5;
  cluster.report(2).place->round = 8;
  for (int rank : {fresh, 0, 1, 2, 3}) cluster.Come(rank);
  std::vector<std::string> order;
  for (const auto& [stream, report] : cluster.standby().Replay()) {
    order.push_back(report.node.node_id);
  }
  EXPECT_THAT(order, ElementsAre("n2", "n1", "n0", "n3", "n4"));
}

TEST(StandbyTest, TheNewestElectorateIsReplayedFirst) {
  Cluster cluster(3);
  cluster.report(0).place->round = 2;
  cluster.report(2).electorate.world.round = 2;
  for (int rank : {0, 1, 2}) cluster.Come(rank);
  EXPECT_EQ(cluster.standby().Replay().front().second.node.node_id, "n2");
}

}  // namespace
}  // namespace muster::rendezvous
