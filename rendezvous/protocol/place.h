#ifndef MUSTER_RENDEZVOUS_PROTOCOL_PLACE_H_
#define MUSTER_RENDEZVOUS_PROTOCOL_PLACE_H_

#include <cstdint>
#include <string>
#include <vector>

namespace muster::rendezvous {

// Limit of the number of Place::store_clients.
inline constexpr int kMaxStoreClients = 65536;

// The place of one node in a round's world.
struct Place {
  int round = 0;
  // Epoch of the coordinator that formed the world (WorldId::epoch). 0: an
  // older coordinator does not tell it.
  uint64_t epoch = 0;
  int group_rank = 0;
  int group_world_size = 1;
  int first_rank = 0;  // the global rank of this node's local rank 0
  int world_size = 1;
  int role_first_rank = 0;
  int role_world_size = 1;
  int restart_count = 0;  // failures so far, without membership changes
  // The highest step that a worker of an earlier round is known to have made;
  // -1: none.
  int64_t reached_step = -1;
  std::string master_address;
  int master_port = 0;
  // The world's NCCL id, offered by the node of group rank 0; empty: none.
  std::string nccl_id;
  // Tells this run of the job from others of its run id; the same on all nodes
  // and in every round. Names the run's log folder. Empty: an older coordinator
  // has none.
  std::string run_tag;
  // group_rank 0 only: the addresses of the round's nodes, at least one for
  // each node. The round's store serves no other hosts. Each is an IP address
  // or the host name of --local-addr. Empty: the coordinator is an older one.
  std::vector<std::string> store_clients;
  // Encryption::kWorkers: the round's secret key, kChannelKeyBytes random
  // bytes, the same on all nodes. Else, and from an older coordinator, empty.
  // The key must not appear in a text, a status or an environment.
  std::string channel_key;
};

// Whether the workers that are to stop can still communicate with one another.
enum class StopCause {
  kBroken,  // A worker failed or a node is lost: waiting for a peer is in vain.
  // All workers are alive (a drain, a scale-up), and may agree on a last
  // checkpoint within the grace.
  kAsked,
  kCancelled,  // As kAsked, and the job ends: it was cancelled.
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_PROTOCOL_PLACE_H_
