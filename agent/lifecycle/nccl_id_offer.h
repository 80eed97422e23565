#ifndef MUSTER_AGENT_LIFECYCLE_NCCL_ID_OFFER_H_
#define MUSTER_AGENT_LIFECYCLE_NCCL_ID_OFFER_H_

#include <optional>
#include <string>

#include "base/time.h"
#include "rendezvous/protocol/directive.h"

namespace muster::agent {

// The NCCL id that this node offers for the next round. The round uses it if
// this node gets group rank 0. Each round needs a new id, because the root
// process of an id serves one world only. Pure.
class NcclIdOffer {
 public:
  // `timeout`: the longest time that this node's first report waits for an NCCL
  // id, so that round 1 can use one; zero if no id is being made.
  NcclIdOffer(Duration timeout, Instant now);

  void Take(std::string id);
  // Records that this node has no NCCL id and will have none soon. The first
  // report then no longer waits for an id.
  void GiveUp();

  // The time until which this node's first report waits for this node's NCCL
  // id, which is being made. nullopt: the report may be sent at once.
  std::optional<Instant> AwaitedUntil(Instant now) const;

  // Whether the agent must make a new NCCL id, because the one that this node
  // offered may have been used in a round.
  enum class Renewal { kNotNeeded, kNeeded };
  // Called when a round begins on this node. If the round uses this node's NCCL
  // id, the node no longer offers the id. If this node has group rank 0, but
  // the round does not use its id, the id must be renewed: an earlier round
  // that never began on this node may have used the id.
  Renewal Spend(const rendezvous::Place& place);
  // Called when round `round` was broken before it began on this node. Other
  // nodes may have used this node's id in that round.
  Renewal Distrust(int round);

  // The id that this node offers; empty: none.
  const std::string& id() const { return id_; }

 private:
  std::optional<Instant> awaited_until_;
  std::string id_;
  int distrusted_round_ = 0;
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_LIFECYCLE_NCCL_ID_OFFER_H_
