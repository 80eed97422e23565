#ifndef MUSTER_RENDEZVOUS_JOB_WORLD_H_
#define MUSTER_RENDEZVOUS_JOB_WORLD_H_

#include <string>
#include <vector>

#include "base/time.h"
#include "rendezvous/job/rank_assignment.h"
#include "rendezvous/protocol/directive.h"

namespace muster {

// One round's world: its members in group-rank order and the place of each,
// plus how many of them have come how far.
struct World {
  struct Member {
    std::string node_id;
    std::string host;
    int first_rank = 0;
    int role_first_rank = 0;
    int role_world_size = 0;
    int slots = 0;
  };
  std::vector<Member> members;
  int world_size = 0;  // workers
  std::string master_address;
  int master_port = 0;
  std::string nccl_id;
  std::string nccl_root_lost;  // how; empty: as far as is known it has not been
  int restart_count = 0;
  Instant began;

  int unstarted = 0;  // members in Part::kAssigned
  int succeeded = 0;
  int unstopped = 0;  // while stopping: members not yet in Part::kStopped

  int size() const { return static_cast<int>(members.size()); }
  Place PlaceOf(int group_rank, int round) const;
};

// Lays the world out: rank offsets, role ranks. Counts and master are the
// caller's.
World LayOut(const std::vector<const NodeIdentity*>& by_group_rank);

}  // namespace muster

#endif  // MUSTER_RENDEZVOUS_JOB_WORLD_H_
