#ifndef MUSTER_RENDEZVOUS_PROTOCOL_ELECTORATE_H_
#define MUSTER_RENDEZVOUS_PROTOCOL_ELECTORATE_H_

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace muster::rendezvous {

// kMaxStandbys: maximum number of Directive::standbys. kMaxEndpointBytes:
// maximum length in bytes of an endpoint (Report::standby_endpoint).
inline constexpr size_t kMaxStandbys = 3;
inline constexpr size_t kMaxEndpointBytes = 272;
// Maximum number of nodes of an electorate whose node ids are listed.
// Electorate::members is empty if there are more, so that messages do not grow
// with the world.
inline constexpr int kMaxListedElectors = 8;

// Number of low bits of an epoch that are random, in a job whose coordinator
// other nodes may replace. Two coordinators may create an epoch at the same
// time; the random bits make the two epochs differ.
//
// In the epoch of the coordinator that begins a job, all higher bits are 0. So
// every elected coordinator has a higher epoch. If the first coordinator
// restarts later, the nodes obey the elected coordinator and not the first one.
inline constexpr int kDrawnEpochBits = 22;
inline constexpr uint64_t kDrawnEpochMask =
    (uint64_t{1} << kDrawnEpochBits) - 1;
constexpr bool IsFounding(uint64_t epoch) {
  return epoch != 0 && epoch <= kDrawnEpochMask;
}

// Returns an epoch above `promised` for a coordinator that begins a job and has
// drawn the random epoch `own`. Requires that `promised` + 1 can be the epoch
// of such a coordinator (IsFounding).
//
// The result lies in the first sixteenth of the epochs above `promised`, so
// that many restarts are possible. It depends on `own`, so that two runs of a
// restarted coordinator get different epochs. Their epochs are equal with the
// probability 1 / (number of epochs in this sixteenth).
constexpr uint64_t FoundingEpochAbove(uint64_t promised, uint64_t own) {
  const uint64_t mixed = (own * 0x9E3779B97F4A7C15) >> (64 - kDrawnEpochBits);
  const uint64_t room = (kDrawnEpochMask - promised) / 16;
  return promised + 1 + mixed % (room + 1);
}

// Identifies a world of a job. The epoch is part of the id because two
// coordinators that cannot reach each other may use the same round number.
struct WorldId {
  uint64_t epoch = 0;  // epoch of the coordinator that formed the world
  int round = 0;       // number of the world's round; 0: no world

  auto operator<=>(const WorldId&) const = default;
};

// The nodes whose majority elects the process that coordinates the job. They
// are the nodes of the newest world that began on all of its nodes, as far as
// the coordinator that sent this electorate knew.
struct Electorate {
  uint64_t epoch = 0;  // epoch of the sender, a coordinator; 0: no electorate
  WorldId world;
  int nodes = 0;  // number of the world's nodes; 0: no electorate
  int rank = -1;  // group rank of this node; -1: not in the electorate
  // Whether this node may be a spare, which runs in addition to the
  // JobSpec::max_nodes nodes of the job. With Takeover::kAuto, a coordinator
  // concludes from the number of its nodes how many others may be connected to
  // another coordinator. A spare counts only once it has a place in a world.
  bool is_spare = false;
  // The node ids of the world by group rank, "" where unknown. Empty if the
  // world has more than kMaxListedElectors nodes.
  std::vector<std::string> members;
  // The incarnations of the agents of `members` when the world formed, 0 where
  // unknown. Empty: all are unknown. With them, a node votes that has not
  // learned that it belongs to the world.
  std::vector<uint64_t> incarnations;

  bool operator==(const Electorate&) const = default;
};

// Returns the group rank of the node in Electorate::members; -1: not listed.
inline int RankIn(const std::vector<std::string>& members,
                  const std::string& node_id) {
  const auto found = std::find(members.begin(), members.end(), node_id);
  if (found == members.end() || node_id.empty()) return -1;
  return static_cast<int>(found - members.begin());
}

// Which process announces an epoch, and how many nodes support that process.
enum class Backing {
  // A coordinator announces its own epoch, and has a majority of the electorate
  // (the nodes that elect a coordinator).
  kMajority,
  // A coordinator announces its own epoch, but has no majority of the
  // electorate.
  kMinority,
  // A standby announces the epoch: a node that has connected to this standby
  // has promised to obey no coordinator with a lower epoch.
  kPromise,
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_PROTOCOL_ELECTORATE_H_
