#include "rendezvous/job/rank_assignment.h"

#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"
#include "rendezvous/job/mover_queue.h"
#include "rendezvous/job/natural_order.h"
#include "rendezvous/job/topology_groups.h"

namespace muster::rendezvous {
namespace {

// Absent numbers sort after all others.
int OrLast(const std::optional<int>& number) {
  return number.value_or(std::numeric_limits<int>::max());
}

// The order in which candidates without a fixed rank take the free ranks, as
// far as the topology does not decide.
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
