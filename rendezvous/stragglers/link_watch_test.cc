#include "rendezvous/stragglers/link_watch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <vector>

namespace muster::rendezvous {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

// A link over which a fixed amount of data was sent. The longer the network
// limited the sends (`share`), the lower the rate.
LinkShare Link(int from_node, int to_node, double share) {
  return {.from_node = from_node,
          .to_node = to_node,
          .share = share,
          .rate = 1e6 / std::max(share, 0.001)};
}

// A ring of three nodes. Arguments: the part of the time during which the
// network limits the links 0-1, 1-2 and 2-0 (LinkShare::share).
std::optional<SlowNode> InRing(double to_1, double to_2, double to_0) {
  return SlowestNode({Link(0, 1, to_1), Link(1, 2, to_2), Link(2, 0, to_0)});
}

TEST(SlowestNode, TheCommonEndOfTheSlowLinksIsFound) {
  ASSERT_TRUE(InRing(0.9, 0.8, 0.1).has_value());
  EXPECT_EQ(InRing(0.9, 0.8, 0.1)->node, 1);
  EXPECT_NEAR(InRing(0.9, 0.8, 0.1)->ratio, 8, 1e-9);
  EXPECT_EQ(InRing(0.8, 0.9, 0.1)->node, 1);
  EXPECT_EQ(InRing(0.1, 0.9, 0.8)->node, 2);
  EXPECT_EQ(InRing(0.9, 0.1, 0.8)->node, 0);
}

TEST(SlowestNode, TheRatioIsBounded) {
  EXPECT_NEAR(InRing(0.9, 0.8, 0)->ratio, 80, 1e-9);
}

TEST(SlowestNode, OneSlowLinkMayBeDueToEitherEnd) {
  EXPECT_FALSE(InRing(0.9, 0.1, 0.1).has_value());
  // Both slow links connect nodes 0 and 1, so either may be the cause.
  EXPECT_FALSE(SlowestNode({Link(0, 1, 0.9), Link(1, 0, 0.9), Link(1, 2, 0.1),
                            Link(2, 3, 0.1)})
                   .has_value());
}

TEST(SlowestNode, WithoutALinkBetweenOtherNodesThereIsNothingToCompareWith) {
  EXPECT_FALSE(SlowestNode({}).has_value());
  EXPECT_FALSE(SlowestNode({Link(0, 1, 0.9), Link(1, 0, 0.9)}).has_value());
  EXPECT_FALSE(SlowestNode({Link(0, 1, 0.9), Link(1, 2, 0.9)}).has_value());
}

TEST(SlowestNode, ANodeThatOnlyReceivesMoreIsNotSlow) {
  EXPECT_FALSE(SlowestNode({Link(0, 1, 0.9), Link(2, 1, 0.9), Link(1, 0, 0.1),
                            Link(0, 2, 0.1)})
                   .has_value());
  EXPECT_FALSE(SlowestNode({Link(0, 1, 0.9), Link(2, 1, 0.9), Link(1, 0, 0.13),
                            Link(0, 2, 0.06)})
                   .has_value());
  EXPECT_TRUE(SlowestNode({Link(0, 1, 0.9), Link(2, 1, 0.9), Link(1, 0, 0.3),
                           Link(0, 2, 0.1)})
                  .has_value());
}

TEST(SlowestNode, ANodeThatSendsMoreAtTheSameRateIsNotSlow) {
  std::vector<LinkShare> links = {Link(1, 0, 0.9), Link(1, 2, 0.9),
                                  Link(2, 0, 0.1)};
  EXPECT_TRUE(SlowestNode(links).has_value());
  const double rate = links[2].rate;
  links[0].rate = links[1].rate = rate;
  EXPECT_FALSE(SlowestNode(links).has_value());
  links[0].rate = links[1].rate = 0.51 * rate;
  EXPECT_FALSE(SlowestNode(links).has_value());
  links[0].rate = links[1].rate = 0.49 * rate;
  EXPECT_TRUE(SlowestNode(links).has_value());
  // A rate of 0 means that the rate is unknown. It does not prove that a link
  // is slow.
  links[0].rate = links[1].rate = 0;
  EXPECT_FALSE(SlowestNode(links).has_value());
  links[0].rate = links[1].rate = rate;
  links[2].rate = 0;
  EXPECT_FALSE(SlowestNode(links).has_value());
}

TEST(SlowestNode, ASmallDifferenceIsNotSlow) {
  // Each call gives the LinkShare::share of the links 0-1, 1-2 and 2-0. Node 1
  // is slow only if the share of 1-2 is at least kMinLinkRatio (2) times the
  // share of 2-0, here 0.4. So 0.79 is too little, and 0.81 is enough.
  EXPECT_FALSE(InRing(0.9, 0.79, 0.4).has_value());
  EXPECT_TRUE(InRing(0.9, 0.81, 0.4).has_value());
  LinkShare slow = Link(1, 2, 0.79);
  slow.rate = 1;
  EXPECT_FALSE(
      SlowestNode({Link(0, 1, 0.9), slow, Link(2, 0, 0.4)}).has_value());
  // Node 1 is slow only if LinkShare::share of the link 1-2 also exceeds that
  // of the link 2-0, here 0.02, by at least kMinLinkExcess (0.1). So 0.11 is
  // too little, and 0.13 is enough.
  EXPECT_FALSE(InRing(0.9, 0.11, 0.02).has_value());
  EXPECT_TRUE(InRing(0.9, 0.13, 0.02).has_value());
}

TEST(SlowestNode, TwoSlowNodesAreNotToldFromTheirNeighbours) {
  // A ring of four nodes in which all links are slow. The slow nodes may be 0
  // and 2, or 1 and 3, so no node is named.
  EXPECT_FALSE(SlowestNode({Link(0, 1, 0.9), Link(1, 2, 0.9), Link(2, 3, 0.9),
                            Link(3, 0, 0.9)})
                   .has_value());
}

TEST(SlowestNode, OfManyLinksBetweenAllNodesThoseOfTheSlowNodeStandOut) {
  std::vector<LinkShare> links;
  for (int from = 0; from < 5; ++from) {
    for (int to = 0; to < 5; ++to) {
      if (from == to) continue;
      const bool is_slow = from == 3 || to == 3;
      links.push_back(Link(from, to, is_slow ? 0.4 : 0.05));
    }
  }
  ASSERT_TRUE(SlowestNode(links).has_value());
  EXPECT_EQ(SlowestNode(links)->node, 3);
}

// Three nodes with two ranks each. The second rank of each node sends to the
// second rank of the next node, and to the first rank of its own node.
class LinkWatchTest : public ::testing::Test {
 protected:
  static constexpr int kNodes = 3;

  LinkWatchTest() { watch_.Begin(2 * kNodes); }

  // Performs a step of one second in which the network limits the sends from
  // and to the node `slow` for 0.8 s, and other sends between nodes for 0.1 s.
  // `slow` -1: all nodes are equal. Returns the changes.
  std::vector<LinkWatch::Change> Step(int slow) {
    for (int node = 0; node < kNodes; ++node) {
      const int next = (node + 1) % kNodes;
      Advance(node, slow == node || slow == next ? milliseconds(800)
                                                 : milliseconds(100));
      Record(node);
    }
    return watch_.Judge();
  }

  // Adds one second to the times of `node`. The network limits the node's sends
  // to the next node for `limited` of this second.
  void Advance(int node, Duration limited) {
    RankTimes& times = times_[node];
    times.own += milliseconds(200);
    times.blocked += milliseconds(800);
    times.sent += 1'000'000;
    times.links.resize(2);
    times.links[0].peer = 2 * ((node + 1) % kNodes) + 1;
    times.links[0].limited += limited;
    times.links[1].peer = 2 * node;
    times.links[1].limited += milliseconds(900);
  }
  void Record(int node) {
    RankTimes none = times_[node];
    none.links.clear();
    watch_.Record(2 * node, node, none);
    watch_.Record(2 * node + 1, node, times_[node]);
  }

  // Performs steps in which node `slow` is slow, until LinkWatch reports a
  // change. Returns the number of steps; 0: no change in 40 steps.
  int StepsUntilChange(int slow) {
    for (int step = 1; step <= 40; ++step) {
      last_ = Step(slow);
      if (!last_.empty()) return step;
    }
    return 0;
  }

  LinkWatch watch_;
  RankTimes times_[kNodes];  // times of the second rank of each node
  std::vector<LinkWatch::Change> last_;
};

TEST_F(LinkWatchTest, EqualNodesNameNobody) {
  EXPECT_EQ(StepsUntilChange(-1), 0);
  EXPECT_FALSE(watch_.finding().has_value());
}

TEST_F(LinkWatchTest, TheSlowNodeIsNamedByItsFirstRankUntilItRecovers) {
  // The first step adds no vote: a vote needs a window, which is the time
  // between two records of a rank's times.
  ASSERT_EQ(StepsUntilChange(1), LinkWatch::kPersistentVotes + 1);
  ASSERT_EQ(last_.size(), 1u);
  EXPECT_FALSE(last_[0].recovered);
  EXPECT_EQ(last_[0].finding.slow.node, 1);
  EXPECT_EQ(last_[0].finding.rank, 2);
  EXPECT_TRUE(last_[0].finding.is_persistent);
  EXPECT_NEAR(last_[0].finding.slow.ratio, 8, 1e-6);
  ASSERT_TRUE(watch_.finding().has_value());
  EXPECT_EQ(watch_.finding()->rank, 2);
  EXPECT_EQ(StepsUntilChange(1), 0);
  ASSERT_EQ(StepsUntilChange(-1),
            LinkWatch::kWindows - LinkWatch::kPassingVotes + 1);
  ASSERT_EQ(last_.size(), 1u);
  EXPECT_TRUE(last_[0].recovered);
  EXPECT_EQ(last_[0].finding.rank, 2);
  EXPECT_FALSE(watch_.finding().has_value());
}

TEST_F(LinkWatchTest, ANodeThatIsSlowForSomeTimeIsShownWithoutAChange) {
  Step(1);
  for (int i = 0; i < LinkWatch::kPassingVotes - 1; ++i) {
    EXPECT_TRUE(Step(1).empty());
    EXPECT_FALSE(watch_.finding().has_value());
  }
  EXPECT_TRUE(Step(1).empty());
  ASSERT_TRUE(watch_.finding().has_value());
  EXPECT_FALSE(watch_.finding()->is_persistent);
  EXPECT_TRUE(Step(-1).empty());
  EXPECT_FALSE(watch_.finding().has_value());
}

TEST_F(LinkWatchTest, ANodeTakesThePlaceOfAnother) {
  ASSERT_GT(StepsUntilChange(1), 0);
  ASSERT_GT(StepsUntilChange(2), 0);
  EXPECT_TRUE(last_[0].recovered);
  ASSERT_GT(StepsUntilChange(2), 0);
  EXPECT_FALSE(last_[0].recovered);
  EXPECT_EQ(last_[0].finding.slow.node, 2);
}

TEST_F(LinkWatchTest, AVoteNeedsNewTimesOfHalfOfTheRanks) {
  Step(1);
  Step(1);
  for (int i = 0; i < 40; ++i) {
    Advance(0, milliseconds(800));
    Record(0);
    EXPECT_TRUE(watch_.Judge().empty());
    // If a rank's times have not changed, recording them again adds no window.
    Record(1);
    Record(2);
    EXPECT_TRUE(watch_.Judge().empty());
  }
  // From the second step on, only two of the three ranks with links have new
  // times, which is enough for a vote in each step.
  int steps = 0;
  for (std::vector<LinkWatch::Change> changes; changes.empty() && steps < 40;
       ++steps) {
    Advance(0, milliseconds(800));
    Advance(1, milliseconds(800));
    Advance(2, milliseconds(100));
    Record(0);
    Record(1);
    if (steps == 0) Record(2);
    changes = watch_.Judge();
  }
  EXPECT_EQ(steps, LinkWatch::kPersistentVotes - 1);
}

TEST_F(LinkWatchTest, AWindowHasAMinimumLength) {
  Step(1);
  for (int i = 0; i < 40; ++i) {
    for (int node = 0; node < kNodes; ++node) {
      times_[node].own += milliseconds(10);
      times_[node].links[0].limited += milliseconds(node == 2 ? 0 : 10);
      Record(node);
    }
    EXPECT_TRUE(watch_.Judge().empty());
  }
  EXPECT_FALSE(watch_.finding().has_value());
}

TEST_F(LinkWatchTest, ANewMeasurementAndANewRoundBeginAnew) {
  for (int i = 0; i < 18; ++i) EXPECT_TRUE(Step(1).empty());
  for (RankTimes& times : times_) times.own = Duration::zero();
  EXPECT_TRUE(Step(1).empty());
  EXPECT_EQ(Step(1).size(), 1u);
  watch_.Begin(2 * kNodes);
  EXPECT_FALSE(watch_.finding().has_value());
  EXPECT_EQ(StepsUntilChange(1), LinkWatch::kPersistentVotes + 1);
}

TEST_F(LinkWatchTest, ALinkThatIsNewInTheTimesIsComparedFromTheNextWindowOn) {
  for (int i = 0; i < 80; ++i) {
    for (int node = 0; node < kNodes; ++node) {
      // Every second record of a node contains no links. So a link is never
      // contained in two successive records, no window has a time for any link,
      // and no node is found slow.
      Advance(node, hours(node == 2 ? 0 : 1));
      if (i % 2 == 0) times_[node].links.clear();
      Record(node);
    }
    EXPECT_TRUE(watch_.Judge().empty());
    EXPECT_FALSE(watch_.finding().has_value());
  }
}

TEST_F(LinkWatchTest, AnyTimesAreAccepted) {
  const Duration most = Duration::max();
  for (int i = 0; i < 40; ++i) {
    const Duration some = i % 2 == 0 ? most : Duration::zero();
    RankTimes times{.own = seconds(i), .blocked = seconds(i)};
    for (const int peer : {-1, 0, 1, 1, 6, 2'147'483'647}) {
      times.links.push_back({.peer = peer, .limited = some});
    }
    for (int rank = 0; rank < 2 * kNodes; ++rank) {
      watch_.Record(rank, rank / 2, times);
    }
    EXPECT_TRUE(watch_.Judge().empty());
  }
}

}  // namespace
}  // namespace muster::rendezvous
