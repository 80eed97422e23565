#ifndef MUSTER_RENDEZVOUS_PROTOCOL_ELECTORATE_H_
#define MUSTER_RENDEZVOUS_PROTOCOL_ELECTORATE_H_

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace muster::rendezvous {

// Limit of the number of Directive::standbys, and of the bytes of an endpoint
// (Report::standby_endpoint).
inline constexpr size_t kMaxStandbys = 3;
inline constexpr size_t kMaxEndpointBytes = 272;
// Limit of the number of nodes of an electorate that are listed by id
// (Electorate::members), so that messages do not grow with the world.
inline constexpr int kMaxListedElectors = 8;

// The epochs of coordinators from which other nodes take over: their low bits
// are drawn at random, because two coordinators may draw an epoch at the same
// time. The coordinator that begins a job has no higher bits, so that every
// coordinator that was elected outranks it: if it is started again, it does not
// know of them.
inline constexpr int kDrawnEpochBits = 22;
inline constexpr uint64_t kDrawnEpochMask =
    (uint64_t{1} << kDrawnEpochBits) - 1;
constexpr bool IsFounding(uint64_t epoch) {
  return epoch != 0 && epoch <= kDrawnEpochMask;
}

// Identifies a world among those of all coordinators of a job: two coordinators
// that cannot reach each other may give one number to two rounds.
struct WorldId {
  uint64_t epoch = 0;  // epoch of the coordinator that formed the world
  int round = 0;       // 0: no world

  auto operator<=>(const WorldId&) const = default;
};

// The nodes whose majority decides who coordinates the job: those of the newest
// world that began on all of its nodes, as a coordinator has told it.
struct Electorate {
  uint64_t epoch = 0;  // epoch of the coordinator that told it; 0: none has
  WorldId world;
  int nodes = 0;  // number of the world's nodes; 0: nobody elects
  int rank = -1;  // this node's group rank in the world; -1: it is not in it
  // The node ids of the world by group rank, "" where unknown. Empty if the
  // world has more than kMaxListedElectors nodes.
  std::vector<std::string> members;

  bool operator==(const Electorate&) const = default;
};

// The group rank of the node with this id in Electorate::members; -1: it is not
// listed.
inline int RankIn(const std::vector<std::string>& members,
                  const std::string& node_id) {
  const auto found = std::find(members.begin(), members.end(), node_id);
  if (found == members.end() || node_id.empty()) return -1;
  return static_cast<int>(found - members.begin());
}

// The part of the electorate that is connected to a coordinator.
enum class Backing { kMajority, kMinority };

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_PROTOCOL_ELECTORATE_H_
