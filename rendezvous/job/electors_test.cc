#include "rendezvous/job/electors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace muster::rendezvous {
namespace {

using testing::ElementsAre;
using testing::Pair;

constexpr uint64_t kEpoch = uint64_t{5} << kDrawnEpochBits;
constexpr uint64_t kOlder = uint64_t{4} << kDrawnEpochBits;

Report From(const std::string& id, uint64_t incarnation = 1) {
  Report report;
  report.node.node_id = id;
  report.node.incarnation = incarnation;
  return report;
}

Place PlaceIn(const WorldId& world, int rank, int nodes) {
  Place place;
  place.epoch = world.epoch;
  place.round = world.round;
  place.group_rank = rank;
  place.group_world_size = nodes;
  return place;
}

// Of a world of four nodes, two are electors with the ranks 0 and 1.
Electors TwoOfFour() {
  Electors electors{.world = {.epoch = kOlder, .round = 2}, .nodes = 4};
  electors.Add("a", {.rank = 0, .incarnation = 1});
  electors.Add("b", {.rank = 1, .incarnation = 1});
  return electors;
}

TEST(Electors, ARankBelongsToOneNode) {
  Electors electors = TwoOfFour();
  EXPECT_FALSE(electors.Add("c", {.rank = 1, .incarnation = 1}));
  EXPECT_FALSE(electors.Add("c", {.rank = 4, .incarnation = 1}));
  EXPECT_FALSE(electors.Add("a", {.rank = 2, .incarnation = 1}));
  EXPECT_TRUE(electors.Add("c", {.rank = 2, .incarnation = 1}));
}

TEST(Electors, ANodeJoinsWithItsRankInTheElectorsWorld) {
  Electors electors = TwoOfFour();
  Report report = From("c");
  EXPECT_EQ(electors.Join(report), -1) << "it has no rank";
  report.place = PlaceIn(electors.world, 2, 4);
  EXPECT_EQ(electors.Join(report), 2);
  EXPECT_TRUE(electors.Has(report.node));
  EXPECT_EQ(electors.Join(report), -1) << "it is an elector already";
}

TEST(Electors, AListedAgentJoinsWithoutKnowingTheWorld) {
  Electors electors = Electors::Of(Electorate{.world = {kOlder, 2},
                                              .nodes = 2,
                                              .members = {"a", "b"},
                                              .incarnations = {1, 1}});
  EXPECT_EQ(electors.Join(From("b", 2)), -1) << "another agent";
  EXPECT_EQ(electors.Join(From("b")), 1);
}

TEST(Electors, OnlyTheAgentsOfTheWorldAreKnown) {
  World world;
  world.epoch = kEpoch;
  world.members = {{.node_id = "a", .incarnation = 1},
                   {.node_id = "b", .incarnation = 1},
                   {.node_id = "c", .incarnation = 1}};
  Membership nodes;
  nodes.Add({.node_id = "a", .incarnation = 1}, Instant());
  nodes.Add({.node_id = "c", .incarnation = 2}, Instant());
  const Electors electors = Electors::Of(world, 3, nodes);
  EXPECT_EQ(electors.world, (WorldId{.epoch = kEpoch, .round = 3}));
  EXPECT_EQ(electors.nodes, 3);
  EXPECT_EQ(electors.known.size(), 1u);
  EXPECT_TRUE(electors.Has({.node_id = "a", .incarnation = 1}));
  EXPECT_THAT(electors.members, ElementsAre("a", "b", "c"));
  EXPECT_THAT(electors.incarnations, ElementsAre(1, 1, 1));
}

TEST(Electors, AnElectorLeavesOnce) {
  Electors electors = TwoOfFour();
  electors.Leave({.node_id = "a", .incarnation = 2});
  electors.Leave({.node_id = "z", .incarnation = 1});
  EXPECT_EQ(electors.gone, 0) << "these agents are no electors";
  electors.Leave({.node_id = "a", .incarnation = 1});
  electors.Leave({.node_id = "a", .incarnation = 1});
  EXPECT_EQ(electors.gone, 1);
  EXPECT_FALSE(electors.Has({.node_id = "a", .incarnation = 1}));
  EXPECT_EQ(electors.RankOf({.node_id = "a", .incarnation = 1}, JobSpec()), -1);
}

TEST(Electors, ARestartedAgentVotesOnlyWhereTwoWorldsNeverRun) {
  const Electors electors = TwoOfFour();
  const NodeIdentity restarted{.node_id = "b", .incarnation = 2};
  JobSpec spec;
  spec.min_nodes = 3;
  spec.max_nodes = 4;
  spec.takeover = Takeover::kMajority;
  EXPECT_EQ(electors.RankOf(restarted, spec), -1);
  spec.takeover = Takeover::kAuto;
  EXPECT_EQ(electors.RankOf(restarted, spec), 1);
}

TEST(Electors, HalfOfTheElectorsIsEnough) {
  Electors electors = TwoOfFour();
  JobSpec spec;
  spec.takeover = Takeover::kMajority;
  EXPECT_FALSE(electors.AreHalf(1, spec));
  EXPECT_TRUE(electors.AreHalf(2, spec));
  electors.Leave({.node_id = "a", .incarnation = 1});
  EXPECT_TRUE(electors.AreHalf(1, spec)) << "one has left";
}

TEST(Electors, AnElectorThatLeftCountsOnlyBesideHalfOfMinNodes) {
  Electors electors = TwoOfFour();
  electors.Leave({.node_id = "a", .incarnation = 1});
  JobSpec spec;
  spec.takeover = Takeover::kAuto;
  spec.min_nodes = 2;
  spec.max_nodes = 8;
  EXPECT_TRUE(electors.AreHalf(1, spec));
  spec.min_nodes = 3;
  EXPECT_FALSE(electors.AreHalf(1, spec));
}

// A node that has stopped its workers, and knows the coordinator of kEpoch.
struct LaterWorldTest : testing::Test {
  LaterWorldTest() {
    spec.takeover = Takeover::kMajority;
    spec.min_nodes = 2;
    spec.max_nodes = 8;
  }

  void Follow(const std::string& id, const Report& report) {
    Node node;
    node.identity = {.node_id = id, .incarnation = report.node.incarnation};
    node.is_spare = is_spare;
    node.part = part;
    node.seen = seen;
    node.must_have_seen = 2;
    later.Follow(node, report, kEpoch, electorate, spec);
  }
  Report Stopped(const std::string& id, int rank) const {
    Report report = From(id);
    report.electorate.epoch = kEpoch;
    report.place = PlaceIn(later.world, rank, 4);
    return report;
  }

  const WorldId electorate{.epoch = kOlder, .round = 2};
  const WorldId newer{.epoch = kOlder, .round = 3};
  JobSpec spec;
  LaterWorld later;
  bool is_spare = false;
  Part part = Part::kNone;
  uint64_t seen = 2;
};

TEST_F(LaterWorldTest, TheNewestWorldAfterTheElectorateCounts) {
  Report older = From("a");
  older.place = PlaceIn({.epoch = kOlder, .round = 1}, 0, 4);
  Report newest = From("b");
  newest.place = PlaceIn(newer, 1, 4);
  EXPECT_FALSE(LaterWorld::After(electorate, {&older}).exists());
  later = LaterWorld::After(electorate, {&newest, &older});
  EXPECT_EQ(later.world, newer);
  EXPECT_EQ(later.needed, 3) << "more than half of its four nodes";
}

TEST_F(LaterWorldTest, ItEndsOnceMoreThanHalfHaveStopped) {
  later = {.world = newer, .needed = 3, .place = PlaceIn(newer, 0, 4)};
  Follow("a", Stopped("a", 0));
  Follow("a", Stopped("a", 0));
  Report runs = Stopped("b", 1);
  runs.phase = NodePhase::kRunning;
  Follow("b", runs);
  Report unaware = Stopped("c", 2);
  unaware.electorate.epoch = kOlder;
  Follow("c", unaware);
  EXPECT_THAT(later.stopped, ElementsAre(0));
  Follow("b", Stopped("b", 1));
  EXPECT_TRUE(later.exists());
  Follow("c", Stopped("c", 2));
  EXPECT_FALSE(later.exists());
}

TEST_F(LaterWorldTest, APromiseOfAnUnawareMemberEndsIt) {
  later = {.world = newer, .needed = 3, .place = PlaceIn(newer, 0, 4)};
  later.place.members = {"a", "b", "c", "d"};
  later.place.incarnations = {1, 1, 1, 1};
  Follow("d", From("d"));
  EXPECT_TRUE(later.exists()) << "it has promised nothing";
  Report promise = From("d");
  promise.promised_epoch = kEpoch;
  Follow("d", promise);
  EXPECT_FALSE(later.exists());
}

TEST_F(LaterWorldTest, AnOwnWorldEndsOnceAMemberIsOut) {
  Node member;
  member.identity = {.node_id = "a", .incarnation = 1};
  later = LaterWorld::Formed({.epoch = kEpoch, .round = 3}, {&member});
  EXPECT_EQ(later.needed, 1);
  EXPECT_THAT(later.members, ElementsAre(Pair("a", 1)));
  Report report = From("a");
  report.electorate.epoch = kEpoch;
  part = Part::kAssigned;
  Follow("a", report);
  EXPECT_TRUE(later.exists()) << "it may still begin";
  part = Part::kNone;
  seen = 1;
  Follow("a", report);
  EXPECT_TRUE(later.exists()) << "an older order may be on its way";
  seen = 2;
  Follow("a", report);
  EXPECT_FALSE(later.exists());
}

TEST_F(LaterWorldTest, ItEndsOnceTooFewNodesAreElsewhere) {
  later = {.world = newer, .needed = 3, .place = PlaceIn(newer, 0, 4)};
  spec.takeover = Takeover::kAuto;
  spec.min_nodes = 3;
  spec.max_nodes = 6;
  is_spare = true;
  Report report = From("s");
  report.electorate.epoch = kEpoch;
  Follow("s", report);
  EXPECT_TRUE(later.reached.empty()) << "a spare is not one of the most";
  is_spare = false;
  for (const char* id : {"e", "f", "g", "h"}) {
    report.node.node_id = id;
    Follow(id, report);
  }
  EXPECT_EQ(later.reached.size(), 4u) << "two may be elsewhere";
  report.node.node_id = "i";
  Follow("i", report);
  EXPECT_FALSE(later.exists());
}

}  // namespace
}  // namespace muster::rendezvous
