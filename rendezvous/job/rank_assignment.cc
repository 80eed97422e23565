#include "rendezvous/job/rank_assignment.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"

namespace muster::rendezvous {
namespace {

// Groups of nodes by their topology keys (such as network switches). The keys
// are ordered, outermost level first. Two nodes are in one group of a level if
// their keys are equal from the outermost level down to this one. A node
// without a key at a level belongs to no group of that level. Pure.
class TopologyGroups {
 public:
  // `keys[i]`: the topology keys of node i, the outermost level first.
  explicit TopologyGroups(const std::vector<std::vector<std::string>>& keys);

  size_t nodes() const { return groups_.size(); }
  // The number of topology keys of `node`.
  size_t DepthOf(size_t node) const { return groups_[node].size(); }
  // The group of nodes to which `node` belongs at `level` of the topology.
  // `level` must be less than DepthOf(node). Group numbers are unique over all
  // levels.
  size_t GroupOf(size_t node, size_t level) const {
    return groups_[node][level];
  }
  size_t groups() const { return group_count_; }

 private:
  std::vector<std::vector<size_t>> groups_;
  size_t group_count_ = 0;
};

// The nodes that need a free rank; Take returns each of them once. Call Take
// for each free rank, from the lowest, with the nodes that have the ranks
// before and after it. The nodes of one topology group then get adjacent ranks,
// at every level. Pure.
class MoverQueue {
 public:
  // `groups` must outlive this object. `movers`: the nodes that need a free
  // rank, as indices in `groups`, in order of preference.
  MoverQueue(const TopologyGroups* groups, const std::vector<size_t>& movers);

  // Removes and returns a node for a free rank. `left` and `right`: the nodes
  // with the ranks before and after it; nullopt: none. At least one node must
  // remain.
  //
  // Returns the node that shares the most topology levels with `left` or
  // `right`. On a tie, prefers levels shared with `left`, then the order of
  // preference. If no node shares a level, the order of preference alone
  // decides.
  size_t Take(std::optional<size_t> left, std::optional<size_t> right);

 private:
  // Nodes in order of preference. Take has already returned all nodes before
  // index `next`, and perhaps some of the nodes after this index.
  struct Line {
    std::vector<size_t> movers;
    size_t next = 0;
  };
  struct Found {
    size_t shared = 0;
    size_t mover = 0;
  };
  std::optional<size_t> First(Line& line) const;
  std::optional<Found> Near(std::optional<size_t> neighbour);

  const TopologyGroups* const groups_;
  Line all_;
  std::vector<Line> of_group_;
  std::vector<char> taken_;  // whether each node was taken, by node index
};

TopologyGroups::TopologyGroups(
    const std::vector<std::vector<std::string>>& keys) {
  constexpr size_t kNoGroup = static_cast<size_t>(-1);
  // The group numbers, from 0. Nodes that share a switch are one group. Key:
  // the number of the surrounding group (kNoGroup: none) and the group's
  // topology key. The topology key alone does not suffice, because equal keys
  // in different surrounding groups are different switches.
  std::map<std::pair<size_t, std::string>, size_t> numbers;
  for (const std::vector<std::string>& node : keys) {
    std::vector<size_t>& own = groups_.emplace_back();
    size_t outer = kNoGroup;
    for (const std::string& key : node) {
      outer = numbers.try_emplace({outer, key}, numbers.size()).first->second;
      own.push_back(outer);
    }
  }
  group_count_ = numbers.size();
}

MoverQueue::MoverQueue(const TopologyGroups* groups,
                       const std::vector<size_t>& movers)
    : groups_(groups), of_group_(groups->groups()), taken_(groups->nodes()) {
  all_.movers = movers;
  for (const size_t mover : movers) {
    for (size_t level = 0; level < groups->DepthOf(mover); ++level) {
      of_group_[groups->GroupOf(mover, level)].movers.push_back(mover);
    }
  }
}

std::optional<size_t> MoverQueue::First(Line& line) const {
  while (line.next < line.movers.size() && taken_[line.movers[line.next]]) {
    ++line.next;
  }
  if (line.next == line.movers.size()) return std::nullopt;
  return line.movers[line.next];
}

std::optional<MoverQueue::Found> MoverQueue::Near(
    std::optional<size_t> neighbour) {
  if (!neighbour) return std::nullopt;
  for (size_t shared = groups_->DepthOf(*neighbour); shared > 0; --shared) {
    const std::optional<size_t> mover =
        First(of_group_[groups_->GroupOf(*neighbour, shared - 1)]);
    if (mover) return Found{shared, *mover};
  }
  return std::nullopt;
}

size_t MoverQueue::Take(std::optional<size_t> left,
                        std::optional<size_t> right) {
  std::optional<Found> best = Near(left);
  const std::optional<Found> other = Near(right);
  if (other && (!best || other->shared > best->shared)) best = other;
  const size_t mover = best ? best->mover : First(all_).value();
  taken_[mover] = 1;
  return mover;
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Returns the end of the run of digits that starts at `from`.
size_t RunEnd(const std::string& text, size_t from) {
  while (from < text.size() && IsDigit(text[from])) ++from;
  return from;
}

size_t SkipZeros(const std::string& text, size_t from, size_t end) {
  while (from < end && text[from] == '0') ++from;
  return from;
}

}  // namespace

int CompareNaturally(const std::string& a, const std::string& b) {
  size_t i = 0;
  size_t j = 0;
  while (i < a.size() && j < b.size()) {
    if (!IsDigit(a[i]) || !IsDigit(b[j])) {
      if (a[i] != b[j]) {
        return static_cast<unsigned char>(a[i]) <
                       static_cast<unsigned char>(b[j])
                   ? -1
                   : 1;
      }
      ++i;
      ++j;
      continue;
    }
    const size_t a_end = RunEnd(a, i);
    const size_t b_end = RunEnd(b, j);
    i = SkipZeros(a, i, a_end);
    j = SkipZeros(b, j, b_end);
    // Leading zeros are skipped, so the number with more digits is greater;
    // numbers of equal length compare digit by digit.
    if (a_end - i != b_end - j) return a_end - i < b_end - j ? -1 : 1;
    const int order = a.compare(i, a_end - i, b, j, b_end - j);
    if (order != 0) return order;
    i = a_end;
    j = b_end;
  }
  if (i < a.size()) return 1;
  if (j < b.size()) return -1;
  return a.size() != b.size() ? (a.size() < b.size() ? -1 : 1) : a.compare(b);
}

namespace {

// Returns `number`; if it is nullopt, a value that sorts after all numbers.
int OrLast(const std::optional<int>& number) {
  return number.value_or(std::numeric_limits<int>::max());
}

// Whether `a` gets a free rank before `b`. Used for candidates without a fixed
// rank if the topology does not decide.
bool ComesBefore(const Candidate& a, const Candidate& b) {
  const NodeIdentity& x = *a.identity;
  const NodeIdentity& y = *b.identity;
  if (x.node_rank != y.node_rank) {
    return OrLast(x.node_rank) < OrLast(y.node_rank);
  }
  if (a.previous_rank != b.previous_rank) {
    return OrLast(a.previous_rank) < OrLast(b.previous_rank);
  }
  if (x.index != y.index) return OrLast(x.index) < OrLast(y.index);
  if (int order = CompareNaturally(x.host, y.host); order != 0) {
    return order < 0;
  }
  return CompareNaturally(x.node_id, y.node_id) < 0;
}

std::vector<size_t> Choose(const std::vector<Candidate>& candidates,
                           size_t most) {
  std::vector<size_t> chosen(candidates.size());
  for (size_t i = 0; i < chosen.size(); ++i) chosen[i] = i;
  std::sort(chosen.begin(), chosen.end(), [&](size_t i, size_t j) {
    const Candidate& a = candidates[i];
    const Candidate& b = candidates[j];
    if (a.previous_rank != b.previous_rank) {
      return OrLast(a.previous_rank) < OrLast(b.previous_rank);
    }
    return a.joined < b.joined;
  });
  if (chosen.size() > most) chosen.resize(most);
  return chosen;
}

std::vector<std::vector<std::string>> TopologyOf(
    const std::vector<Candidate>& candidates) {
  std::vector<std::vector<std::string>> keys;
  keys.reserve(candidates.size());
  for (const Candidate& candidate : candidates) {
    keys.push_back(candidate.identity->topology);
  }
  return keys;
}

}  // namespace

Assignment AssignRanks(const std::vector<Candidate>& candidates, int most) {
  const std::vector<size_t> chosen =
      Choose(candidates, static_cast<size_t>(std::max(most, 0)));
  const int size = static_cast<int>(chosen.size());
  constexpr size_t kFree = std::numeric_limits<size_t>::max();
  Assignment result;
  result.order.assign(chosen.size(), kFree);

  std::vector<size_t> homeless;
  for (size_t i : chosen) {
    const std::optional<int>& rank = candidates[i].identity->node_rank;
    if (rank.has_value() && *rank < size) {
      result.order[*rank] = i;
    } else {
      homeless.push_back(i);
    }
  }
  std::vector<size_t> movers;
  for (size_t i : homeless) {
    const std::optional<int>& rank = candidates[i].previous_rank;
    if (rank.has_value() && *rank < size && result.order[*rank] == kFree) {
      result.order[*rank] = i;
    } else {
      movers.push_back(i);
    }
  }
  std::sort(movers.begin(), movers.end(), [&](size_t i, size_t j) {
    return ComesBefore(candidates[i], candidates[j]);
  });
  const TopologyGroups groups(TopologyOf(candidates));
  MoverQueue queue(&groups, movers);
  const auto who = [&](size_t rank) {
    const size_t i = result.order[rank % result.order.size()];
    return i == kFree ? std::nullopt : std::optional<size_t>(i);
  };
  for (size_t rank = 0; rank < result.order.size(); ++rank) {
    if (result.order[rank] != kFree) continue;
    const size_t i =
        queue.Take(who(rank + result.order.size() - 1), who(rank + 1));
    result.order[rank] = i;
    const NodeIdentity& node = *candidates[i].identity;
    if (node.node_rank.has_value()) {
      result.notes.push_back(absl::StrCat(
          "node rank ", *node.node_rank, " of ", node.host,
          " became group rank ", rank, ": the world has ", size, " nodes"));
    }
  }
  return result;
}

}  // namespace muster::rendezvous
