// Tests of the rank assignment. Some tests draw worlds with random topology,
// arrival order and indices, and count how often a ring over all ranks crosses
// from one switch to another.
#include "rendezvous/job/rank_assignment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace muster::rendezvous {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Adds candidates by host name; Ranked() returns the host names by group rank.
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

TEST_F(RankAssignmentTest, NaturalHostOrderForAnyOrderOfArrival) {
  Add("node10");
  Add("node9");
  Add("node1");
  EXPECT_THAT(Ranked(8), ElementsAre("node1", "node9", "node10"));
  EXPECT_THAT(assignment_.notes, IsEmpty());
}

TEST_F(RankAssignmentTest, AgentsOfAHostAreOrderedByNodeId) {
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
  Add("node0");  // node0 comes first in name order
  EXPECT_THAT(Ranked(3), ElementsAre("node1", "node0", "node3"));
}

TEST_F(RankAssignmentTest, AHoleAtRankZeroIsTakenByTheReplacement) {
  Add("b", 1);
  Add("c", 2);
  Add("z");
  EXPECT_THAT(Ranked(3), ElementsAre("z", "b", "c"));
}

TEST_F(RankAssignmentTest, AShrunkenWorldMovesOnlyRanksBeyondIt) {
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

TEST_F(RankAssignmentTest, SurvivorsAreChosenBeforeEarlierArrivals) {
  Add("early");
  Add("a", 1);
  Add("b", 0);
  EXPECT_THAT(Ranked(2), ElementsAre("b", "a"));
}

TEST_F(RankAssignmentTest, BeyondTheMaximumTheFirstArrivalsAreChosen) {
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

TEST_F(RankAssignmentTest, GroupsAreOrderedByTheirLowestIndex) {
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
  Add("b2").topology = {"B"};  // b2 and a2 get the free ranks, 1 and 4
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

TEST_F(RankAssignmentTest, NoCandidatesAndNoRoom) {
  EXPECT_THAT(Ranked(3), IsEmpty());
  Add("a");
  EXPECT_THAT(Ranked(0), IsEmpty());
}

TEST(NaturalOrder, NumbersCompareAsNumbers) {
  EXPECT_LT(CompareNaturally("node2", "node10"), 0);
  EXPECT_GT(CompareNaturally("node10", "node9"), 0);
  EXPECT_LT(CompareNaturally("rack1-node12", "rack2-node3"), 0);
  EXPECT_EQ(CompareNaturally("node7", "node7"), 0);
}

TEST(NaturalOrder, NumbersOfAnyLengthDoNotOverflow) {
  EXPECT_LT(
      CompareNaturally("a99999999999999999999998", "a99999999999999999999999"),
      0);
  EXPECT_LT(
      CompareNaturally("a99999999999999999999999", "a100000000000000000000000"),
      0);
}

TEST(NaturalOrder, ShorterComesFirst) {
  EXPECT_LT(CompareNaturally("node", "node1"), 0);
  EXPECT_LT(CompareNaturally("", "a"), 0);
  EXPECT_GT(CompareNaturally("node1a", "node1"), 0);
}

TEST(NaturalOrder, LeadingZerosDecideOnlyBetweenOtherwiseEqualTexts) {
  EXPECT_GT(CompareNaturally("node02", "node2"), 0);
  EXPECT_LT(CompareNaturally("node02", "node3"), 0);
  EXPECT_LT(CompareNaturally("node002a", "node02b"), 0);
  EXPECT_NE(CompareNaturally("a0b00", "a00b0"), 0);
}

TEST(NaturalOrder, BytesAboveAsciiAreUnsigned) {
  EXPECT_LT(CompareNaturally("z", "\xc3\xa9"), 0);
}

TEST(NaturalOrder, IsAnOrder) {
  std::vector<std::string> names = {"n10", "n9",  "n1", "n01", "n",  "",
                                    "n1a", "n1b", "m2", "10",  "9",  "n001",
                                    "n-1", "n 1", "N1", "n1.", "n1-"};
  for (const std::string& a : names) {
    for (const std::string& b : names) {
      EXPECT_EQ(CompareNaturally(a, b) < 0, CompareNaturally(b, a) > 0)
          << a << " " << b;
      EXPECT_EQ(CompareNaturally(a, b) == 0, a == b) << a << " " << b;
      for (const std::string& c : names) {
        if (CompareNaturally(a, b) < 0 && CompareNaturally(b, c) < 0) {
          EXPECT_LT(CompareNaturally(a, c), 0) << a << " " << b << " " << c;
        }
      }
    }
  }
}

using Keys = std::vector<std::string>;

// Returns the node's network switches from the outermost down to `level`. A
// node with fewer switches counts as connected to a switch of its own.
Keys Prefix(const NodeIdentity& node, size_t level) {
  if (node.topology.size() <= level) return {"alone", node.node_id};
  return {node.topology.begin(),
          node.topology.begin() + static_cast<std::ptrdiff_t>(level) + 1};
}

int HopsAt(size_t level, const std::vector<const NodeIdentity*>& ring) {
  int hops = 0;
  for (size_t i = 0; i < ring.size(); ++i) {
    const NodeIdentity& next = *ring[(i + 1) % ring.size()];
    hops += Prefix(*ring[i], level) != Prefix(next, level) ? 1 : 0;
  }
  return hops;
}

// Returns the minimum number of hops, that is, of steps of a ring from one
// group to another. A ring over several groups enters each group at least once.
int LeastHopsAt(size_t level, const std::vector<const NodeIdentity*>& nodes) {
  std::set<Keys> groups;
  for (const NodeIdentity* node : nodes) groups.insert(Prefix(*node, level));
  return groups.size() > 1 ? static_cast<int>(groups.size()) : 0;
}

class RandomWorld {
 public:
  RandomWorld(std::mt19937* random, int nodes, int levels, int fanout,
              int keyless_percent) {
    std::vector<int> indices(static_cast<size_t>(nodes));
    std::iota(indices.begin(), indices.end(), 0);
    std::shuffle(indices.begin(), indices.end(), *random);
    const bool indexed = (*random)() % 2 == 0;
    for (int i = 0; i < nodes; ++i) {
      NodeIdentity& node = identities_.emplace_back();
      node.host = "n" + std::to_string((*random)() % 1000);
      node.node_id = node.host + "/" + std::to_string(i);
      if (indexed) node.index = indices[static_cast<size_t>(i)];
      for (int level = 0; level < levels; ++level) {
        if (static_cast<int>((*random)() % 100) < keyless_percent) break;
        node.topology.push_back(
            "s" + std::to_string((*random)() % static_cast<unsigned>(fanout)));
      }
    }
    for (const NodeIdentity& node : identities_) {
      candidates_.push_back(
          {.identity = &node, .joined = candidates_.size() + 1});
    }
    std::shuffle(candidates_.begin(), candidates_.end(), *random);
  }

  std::vector<const NodeIdentity*> Ring() const {
    const Assignment assignment =
        AssignRanks(candidates_, static_cast<int>(candidates_.size()));
    std::vector<const NodeIdentity*> ring;
    for (const size_t i : assignment.order) {
      ring.push_back(candidates_[i].identity);
    }
    return ring;
  }

  const std::deque<NodeIdentity>& identities() const { return identities_; }
  std::vector<Candidate>& candidates() { return candidates_; }

 private:
  std::deque<NodeIdentity> identities_;
  std::vector<Candidate> candidates_;
};

TEST(RankNeighbours, RingsCrossAsFewSwitchesAsCanBeAtEveryLevel) {
  std::mt19937 random(5);
  for (int world = 0; world < 400; ++world) {
    const int levels = 1 + static_cast<int>(random() % 4);
    const RandomWorld nodes(&random, 1 + static_cast<int>(random() % 60),
                            levels, 1 + static_cast<int>(random() % 5),
                            world % 2 == 0 ? 0 : 15);
    const std::vector<const NodeIdentity*> ring = nodes.Ring();
    ASSERT_EQ(ring.size(), nodes.identities().size());
    for (size_t level = 0; level < static_cast<size_t>(levels); ++level) {
      ASSERT_EQ(HopsAt(level, ring), LeastHopsAt(level, ring))
          << "world " << world << " level " << level;
    }
  }
}

TEST(RankNeighbours, NoOtherOrderOfASmallWorldCrossesFewer) {
  std::mt19937 random(7);
  for (int world = 0; world < 60; ++world) {
    const RandomWorld nodes(&random, 2 + static_cast<int>(random() % 5), 2, 2,
                            world % 3 == 0 ? 20 : 0);
    const std::vector<const NodeIdentity*> ring = nodes.Ring();
    std::vector<const NodeIdentity*> other = ring;
    std::sort(other.begin(), other.end());
    do {
      for (const size_t level : {0, 1}) {
        ASSERT_LE(HopsAt(level, ring), HopsAt(level, other))
            << "world " << world;
      }
    } while (std::next_permutation(other.begin(), other.end()));
  }
}

TEST(RankNeighbours, IndexZeroIsFirstAndTheOrderOfArrivalDoesNotMatter) {
  std::mt19937 random(11);
  for (int world = 0; world < 100; ++world) {
    RandomWorld nodes(&random, 2 + static_cast<int>(random() % 30), 3, 3, 10);
    const std::vector<const NodeIdentity*> ring = nodes.Ring();
    EXPECT_EQ(ring[0]->index.value_or(0), 0);
    std::shuffle(nodes.candidates().begin(), nodes.candidates().end(), random);
    EXPECT_EQ(nodes.Ring(), ring) << "world " << world;
  }
}

TEST(RankNeighbours, SurvivorsKeepTheirRankForAnyReplacements) {
  std::mt19937 random(13);
  for (int world = 0; world < 200; ++world) {
    const int size = 2 + static_cast<int>(random() % 30);
    RandomWorld nodes(&random, size, 3, 3, 10);
    std::vector<int> ranks(static_cast<size_t>(size));
    std::iota(ranks.begin(), ranks.end(), 0);
    std::shuffle(ranks.begin(), ranks.end(), random);
    for (size_t i = 0; i < ranks.size(); ++i) {
      if (random() % 3 != 0) nodes.candidates()[i].previous_rank = ranks[i];
    }
    const Assignment assignment = AssignRanks(nodes.candidates(), size);
    std::set<size_t> placed(assignment.order.begin(), assignment.order.end());
    EXPECT_EQ(placed.size(), nodes.candidates().size());
    for (size_t i = 0; i < nodes.candidates().size(); ++i) {
      const std::optional<int>& before = nodes.candidates()[i].previous_rank;
      if (before) {
        EXPECT_EQ(assignment.order[static_cast<size_t>(*before)], i);
      }
    }
  }
}

// Guards against a quadratic algorithm, which would take minutes.
TEST(RankNeighbours, TenThousandNodes) {
  std::mt19937 random(17);
  RandomWorld nodes(&random, 10'000, 4, 12, 5);
  const std::vector<const NodeIdentity*> ring = nodes.Ring();
  for (size_t level = 0; level < 4; ++level) {
    EXPECT_EQ(HopsAt(level, ring), LeastHopsAt(level, ring));
  }
  for (size_t i = 0; i < nodes.candidates().size(); i += 2) {
    nodes.candidates()[i].previous_rank = static_cast<int>(i);
  }
  EXPECT_EQ(nodes.Ring().size(), 10'000u);
}

}  // namespace
}  // namespace muster::rendezvous
