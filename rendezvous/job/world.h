#ifndef MUSTER_RENDEZVOUS_JOB_WORLD_H_
#define MUSTER_RENDEZVOUS_JOB_WORLD_H_

#include <cstddef>
#include <string>
#include <vector>

#include "base/time.h"
#include "rendezvous/job/rank_assignment.h"
#include "rendezvous/protocol/directive.h"

namespace muster::rendezvous {

// The world of one round: its members by group rank, with the place of each.
// Also counts the members that have not started, have succeeded, were lost or
// have not stopped.
struct World {
  struct Member {
    std::string node_id;
    // The member's host. For a member of an adopted world that has not
    // reported: its node id, or "" if the id is unknown.
    std::string host;
    // Incarnation of the node's agent in this world; 0: unknown. Not stored in
    // a job's record.
    uint64_t incarnation = 0;
    int first_rank = 0;
    int role_first_rank = 0;
    int role_world_size = 0;
    int slots = 0;
    // IP address of the node's agent (Node::peer). Not stored in a job's
    // record.
    std::string peer;
    // How the node left or was lost since the round began, for messages; empty:
    // the node is present.
    std::string departure;
  };
  std::vector<Member> members;
  uint64_t epoch = 0;  // epoch of the coordinator that formed the world
  int world_size = 0;  // number of workers
  std::string master_address;
  int master_port = 0;
  std::string nccl_id;
  // Addresses from which the round's store accepts connections
  // (Place::store_clients); empty if a worker serves the store.
  std::vector<std::string> store_clients;
  // How the process that created `nccl_id` (the NCCL root) was lost; empty: no
  // loss is known.
  std::string nccl_root_lost;
  int restart_count = 0;
  // The values of Place::electorate and Place::electors that the members get. A
  // job's record contains neither of them.
  WorldId electorate;
  int electors = 0;
  // Highest training step that a worker has reached in earlier rounds; -1:
  // none.
  int64_t reached_step = -1;
  Instant began;

  int unstarted = 0;  // number of members that have not started their workers
  int succeeded = 0;
  int lost = 0;  // number of members that were lost with their workers
  // while stopping: number of members that have not confirmed the stop
  // (Part::kStopped)
  int unstopped = 0;

  // In an adopted world: number of members whose node has not reported to this
  // coordinator yet. The node ids of these members are empty. If one of these
  // nodes has still not reported at `unknown_until`, the round breaks.
  int unknown = 0;
  Instant unknown_until;

  int size() const { return static_cast<int>(members.size()); }
  // Return the lists that each node gets with its place: the node ids of this
  // world (Place::members), and the incarnations of its agents
  // (Place::incarnations). Both are empty if the world has more than
  // kMaxListedElectors nodes.
  std::vector<std::string> ListedMembers() const;
  std::vector<uint64_t> ListedIncarnations() const;
  Place PlaceOf(int group_rank, int round) const;
  // Makes `node` the member that has this place.
  void SetMember(const Place& place, const NodeIdentity& node);
  // Records, for the verdict, how a member left or was lost. No effect if the
  // node is not the member with that group rank. The first record stays,
  // because a node that leaves is also lost later.
  void RememberDeparture(const std::string& node_id, int group_rank,
                         const std::string& how);
};

// Returns the addresses from which the round's store accepts connections,
// without duplicates. `by_member`: the addresses of each node, the advertised
// one first. If there are more than `most`, omits addresses at the end of the
// longest lists.
std::vector<std::string> StoreClients(
    const std::vector<std::vector<std::string>>& by_member,
    size_t most = kMaxStoreClients);

// Builds a world from `by_group_rank`, its nodes by group rank. Sets the rank
// offsets and role ranks. The caller sets the restart count, the master and the
// NCCL id.
World LayOut(const std::vector<const NodeIdentity*>& by_group_rank);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_JOB_WORLD_H_
