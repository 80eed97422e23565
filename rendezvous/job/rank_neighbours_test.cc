// Counts how often a ring over all ranks crosses from one switch to another, in
// worlds with random topology, arrival order and indices.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "rendezvous/job/rank_assignment.h"

namespace muster::rendezvous {
namespace {

using Keys = std::vector<std::string>;

// The node's keys down to `level`. A node with fewer keys is behind no known
// switch; its hops are counted as if it had a switch of its own.
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

// The lower bound of hops: a ring over several groups enters each at least
// once.
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

TEST(RankNeighbours, ThoseWhoStayKeepTheirRankWhereverTheNewOnesAre) {
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

// A quadratic algorithm would take minutes.
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
