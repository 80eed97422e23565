#ifndef MUSTER_AGENT_LIFECYCLE_NCCL_ID_OFFER_H_
#define MUSTER_AGENT_LIFECYCLE_NCCL_ID_OFFER_H_

#include <optional>
#include <string>

#include "base/time.h"
#include "rendezvous/protocol/directive.h"

namespace muster::agent {

// The NCCL id that this node offers for the next world, should it be the first
// of it: fresh for each round, since an id's root serves one world once. Pure.
class NcclIdOffer {
 public:
  // `patience`: how long the first report waits for an id, so that round 1 has
  // one; zero where none is being made.
  NcclIdOffer(Duration patience, Instant now);

  void Take(std::string id);
  // There is none, and none will come soon.
  void GiveUp();

  // Until when the first report is held back; nothing once it may go.
  std::optional<Instant> AwaitedUntil(Instant now) const;

  // Whether there was an id that is of no use any more, so that another must be
  // made.
  enum class Renewal { kNotNeeded, kNeeded };
  // A round begins here. What it uses, if it was this node's, is offered no
  // more; nor is what the coordinator could have used and did not, because a
  // world that this node never began may have had it.
  Renewal Spend(const rendezvous::Place& place);
  // Round `round` was broken, and this node never began it: others may have
  // used its id.
  Renewal Distrust(int round);

  // Empty: none.
  const std::string& id() const { return id_; }

 private:
  std::optional<Instant> awaited_until_;
  std::string id_;
  int distrusted_round_ = 0;
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_LIFECYCLE_NCCL_ID_OFFER_H_
