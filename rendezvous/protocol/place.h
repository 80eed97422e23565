#ifndef MUSTER_RENDEZVOUS_PROTOCOL_PLACE_H_
#define MUSTER_RENDEZVOUS_PROTOCOL_PLACE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "rendezvous/protocol/electorate.h"

namespace muster::rendezvous {

// Maximum number of Place::store_clients.
inline constexpr int kMaxStoreClients = 65536;

// The place of one node in a round: its group rank, the first global rank of
// its workers, and the settings of the world.
struct Place {
  int round = 0;
  // Epoch of the coordinator that formed the world (WorldId::epoch). 0: the
  // coordinator's version is too old to send it.
  uint64_t epoch = 0;
  int group_rank = 0;
  int group_world_size = 1;
  int first_rank = 0;  // global rank of local rank 0
  int world_size = 1;
  int role_first_rank = 0;
  int role_world_size = 1;
  int restart_count = 0;  // number of the job's restarts after worker failures
  // The highest training step that a worker is known to have made in an earlier
  // round; -1: none.
  int64_t reached_step = -1;
  std::string master_address;
  int master_port = 0;
  // The world's NCCL id, created on the node of group rank 0; empty: none.
  std::string nccl_id;
  // Distinguishes this run of the job from other runs with the same run id. The
  // same on all nodes and in every round. Part of the name of the run's log
  // folder. Empty: the coordinator is too old to send it.
  std::string run_tag;
  // Only for group rank 0: the addresses of the round's nodes, at least one for
  // each node. The round's store accepts no other hosts. Each is an IP address
  // or the host name of --local-addr. Empty: the coordinator is too old to send
  // it.
  std::vector<std::string> store_clients;
  // The node ids of the world by group rank, "" where unknown. Empty if the
  // world has more than kMaxListedElectors nodes. With the list, a member is
  // recognised even if its agent was restarted and has forgotten the world.
  std::vector<std::string> members;
  // The incarnations of the agents of `members` when the world formed, 0 where
  // unknown. Empty: all are unknown. With them, a member is recognised that has
  // not learned of the world (IsUnawareMember).
  std::vector<uint64_t> incarnations;
  // The world of the electorate when this world formed (Electorate::world).
  WorldId electorate;
  // Number of this world's nodes that were also in the world `electorate`. A
  // node whose agent was restarted since it ran that world does not count. 0:
  // none, or unknown.
  int electors = 0;
  // With Encryption::kWorkers: the round's secret key, kChannelKeyBytes random
  // bytes, the same on all nodes. Empty: encryption is off, or the coordinator
  // is too old. The key must not appear in a message, a status or an
  // environment.
  std::string channel_key;
};

// Why workers are stopped. The cause decides whether they can still
// communicate.
enum class StopCause {
  kBroken,  // A worker failed or a node is lost: communication is broken.
  // The round ends without a failure, for instance because of a drain or a
  // scale-up. All workers are alive, so they may agree on a last checkpoint
  // within the grace period.
  kAsked,
  // The job was cancelled and ends. All workers are alive, so they may agree on
  // a last checkpoint within the grace period.
  kCancelled,
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_PROTOCOL_PLACE_H_
