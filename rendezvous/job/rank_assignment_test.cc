#include "rendezvous/job/rank_assignment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>

namespace muster::rendezvous {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Adds candidates by host name; Ranked() lists the world's host names by group
// rank.
class RankAssignmentTest : public ::testing::Test {
 protected:
  NodeIdentity& Add(const std::string& host,
                    std::optional<int> previous = std::nullopt) {
    identities_.emplace_back();
    NodeIdentity& identity = identities_.back();
    identity.host = host;
    identity.node_id = host + "#id";
    candidates_.push_back({.identity = &identity,
                           .joined = candidates_.size() + 1,
                           .previous_rank = previous});
    return identity;
  }
  std::vector<std::string> Ranked(int most) {
    assignment_ = AssignRanks(candidates_, most);
    std::vector<std::string> hosts;
    for (size_t i : assignment_.order) {
      hosts.push_back(candidates_[i].identity->host);
    }
    return hosts;
  }

  std::deque<NodeIdentity> identities_;
  std::vector<Candidate> candidates_;
  Assignment assignment_;
};

TEST_F(RankAssignmentTest, NaturalHostOrderWhateverTheOrderOfArrival) {
  Add("node10");
  Add("node9");
  Add("node1");
  EXPECT_THAT(Ranked(8), ElementsAre("node1", "node9", "node10"));
  EXPECT_THAT(assignment_.notes, IsEmpty());
}

TEST_F(RankAssignmentTest, OneHostWithSeveralAgentsIsOrderedByNodeId) {
  Add("a").node_id = "a/10";
  Add("a").node_id = "a/9";
  Ranked(2);
  EXPECT_EQ(candidates_[assignment_.order[0]].identity->node_id, "a/9");
}

TEST_F(RankAssignmentTest, ExplicitRankComesFirst) {
  Add("a");
  Add("b").node_rank = 0;
  Add("c");
  EXPECT_THAT(Ranked(3), ElementsAre("b", "a", "c"));
}

TEST_F(RankAssignmentTest, ExplicitRanksInReverse) {
  Add("a").node_rank = 2;
  Add("b").node_rank = 1;
  Add("c").node_rank = 0;
  EXPECT_THAT(Ranked(3), ElementsAre("c", "b", "a"));
}

TEST_F(RankAssignmentTest, ExplicitRankBeyondTheWorldMovesIntoAHoleWithANote) {
  Add("a").node_rank = 0;
  Add("b").node_rank = 3;
  EXPECT_THAT(Ranked(4), ElementsAre("a", "b"));
  EXPECT_THAT(assignment_.notes,
              ElementsAre(HasSubstr("node rank 3 of b became group rank 1: the "
                                    "world has 2 nodes")));
}

TEST_F(RankAssignmentTest, SeveralExplicitRanksBeyondKeepTheirOrder) {
  Add("a").node_rank = 5;
  Add("b").node_rank = 3;
  EXPECT_THAT(Ranked(8), ElementsAre("b", "a"));
  EXPECT_EQ(assignment_.notes.size(), 2u);
}

TEST_F(RankAssignmentTest, SurvivorsKeepTheirRankAndTheNewOneTakesTheHole) {
  Add("node3", 2);
  Add("node1", 0);
  Add("node0");  // sorts first by name
  EXPECT_THAT(Ranked(3), ElementsAre("node1", "node0", "node3"));
}

TEST_F(RankAssignmentTest, AHoleAtRankZeroIsTakenByTheReplacement) {
  Add("b", 1);
  Add("c", 2);
  Add("z");
  EXPECT_THAT(Ranked(3), ElementsAre("z", "b", "c"));
}

TEST_F(RankAssignmentTest, AShrunkenWorldMovesOnlyThoseBeyondIt) {
  Add("a", 0);
  Add("c", 2);
  Add("d", 3);
  EXPECT_THAT(Ranked(4), ElementsAre("a", "d", "c"));
}

TEST_F(RankAssignmentTest, MoversKeepTheirOrderAmongEachOther) {
  Add("z", 4);
  Add("a", 5);
  EXPECT_THAT(Ranked(4), ElementsAre("z", "a"));
}

TEST_F(RankAssignmentTest, ExplicitRankDisplacesASurvivor) {
  Add("a", 0);
  Add("b", 1);
  Add("c").node_rank = 0;
  EXPECT_THAT(Ranked(3), ElementsAre("c", "b", "a"));
}

TEST_F(RankAssignmentTest, SurvivorsAreChosenBeforeThoseWhoCameEarlier) {
  Add("early");
  Add("a", 1);
  Add("b", 0);
  EXPECT_THAT(Ranked(2), ElementsAre("b", "a"));
}

TEST_F(RankAssignmentTest, BeyondTheMostThoseWhoCameFirstAreChosen) {
  Add("z");
  Add("y");
  Add("a");
  EXPECT_THAT(Ranked(2), ElementsAre("y", "z"));
}

TEST_F(RankAssignmentTest, IndexBeforeHost) {
  Add("a").index = 2;
  Add("b").index = 1;
  Add("d");
  Add("c");
  EXPECT_THAT(Ranked(4), ElementsAre("b", "a", "c", "d"));
}

TEST_F(RankAssignmentTest, EqualTopologyKeysBecomeNeighbours) {
  Add("n4").topology = {"spine1", "leaf9"};
  Add("n2").topology = {"spine1", "leaf9"};
  Add("n3").topology = {"spine1", "leaf10"};
  Add("n1").topology = {"spine1", "leaf10"};
  EXPECT_THAT(Ranked(4), ElementsAre("n1", "n3", "n2", "n4"));
}

TEST_F(RankAssignmentTest, AnIndexDoesNotPartNeighbours) {
  for (const int index : {3, 0, 2, 1}) {
    NodeIdentity& node = Add("n" + std::to_string(index));
    node.index = index;
    node.topology = {index % 2 == 0 ? "even" : "odd"};
  }
  EXPECT_THAT(Ranked(4), ElementsAre("n0", "n2", "n1", "n3"));
}

TEST_F(RankAssignmentTest, GroupsComeByTheirLeastIndexWhateverTheirName) {
  NodeIdentity& b = Add("b");
  b.index = 7;
  b.topology = {"block1"};
  NodeIdentity& a = Add("a");
  a.index = 5;
  a.topology = {"block2"};
  EXPECT_THAT(Ranked(2), ElementsAre("a", "b"));
}

TEST_F(RankAssignmentTest, EqualKeysInDifferentGroupsAreDifferentSwitches) {
  Add("n1").topology = {"pod1", "leaf1"};
  Add("n2").topology = {"pod2", "leaf1"};
  Add("n3").topology = {"pod1", "leaf2"};
  Add("n4").topology = {"pod2", "leaf1"};
  Add("n5").topology = {"pod1", "leaf1"};
  EXPECT_THAT(Ranked(5), ElementsAre("n1", "n5", "n3", "n2", "n4"));
}

TEST_F(RankAssignmentTest, NodesWithoutKeysStandAlone) {
  Add("n1");
  Add("n2").topology = {"s"};
  Add("n3");
  Add("n4").topology = {"s", "t"};
  Add("n5").topology = {"s"};
  Add("n6").topology = {"s", "t"};
  EXPECT_THAT(Ranked(6), ElementsAre("n1", "n2", "n4", "n6", "n5", "n3"));
}

TEST_F(RankAssignmentTest, ReplacementsTakeTheHolesBesideTheirOwn) {
  Add("a1", 0).topology = {"A"};
  Add("a3", 2).topology = {"A"};
  Add("b1", 3).topology = {"B"};
  Add("b3", 5).topology = {"B"};
  Add("b2").topology = {"B"};  // the free ranks are 1 and 4
  NodeIdentity& a2 = Add("a2");
  a2.topology = {"A"};
  a2.index = 9;
  EXPECT_THAT(Ranked(6), ElementsAre("a1", "a2", "a3", "b1", "b2", "b3"));
}

TEST_F(RankAssignmentTest, AGrownWorldGoesOnWhereItsLastNodeIs) {
  Add("a1", 0).topology = {"A"};
  Add("b1", 1).topology = {"B"};
  Add("a2").topology = {"A"};
  Add("b2").topology = {"B"};
  EXPECT_THAT(Ranked(4), ElementsAre("a1", "b1", "b2", "a2"));
}

TEST_F(RankAssignmentTest, TheNeighbourOnTheRightCountsWhereItIsNearer) {
  Add("a", 0).topology = {"A", "1"};
  Add("c", 2).topology = {"A", "2"};
  Add("n1").topology = {"A", "3"};
  Add("n2").topology = {"A", "2"};
  EXPECT_THAT(Ranked(4), ElementsAre("a", "n2", "c", "n1"));
}

TEST_F(RankAssignmentTest, TheNeighbourOnTheLeftCountsWhereBothAreAsNear) {
  Add("b", 1).topology = {"B"};
  Add("a", 3).topology = {"A"};
  Add("n1").topology = {"B"};
  Add("n2").topology = {"A"};
  EXPECT_THAT(Ranked(4), ElementsAre("n2", "b", "n1", "a"))
      << "the last rank is to the left of the first";
}

TEST_F(RankAssignmentTest, NobodyAndNoRoom) {
  EXPECT_THAT(Ranked(3), IsEmpty());
  Add("a");
  EXPECT_THAT(Ranked(0), IsEmpty());
}

}  // namespace
}  // namespace muster::rendezvous
