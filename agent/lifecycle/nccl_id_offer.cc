#include "agent/lifecycle/nccl_id_offer.h"

#include <utility>

namespace muster::agent {

NcclIdOffer::NcclIdOffer(Duration timeout, Instant now) {
  if (timeout > Duration::zero()) awaited_until_ = now + timeout;
}

void NcclIdOffer::Take(std::string id) {
  id_ = std::move(id);
  awaited_until_.reset();
}

void NcclIdOffer::GiveUp() {
  id_.clear();
  awaited_until_.reset();
}

std::optional<Instant> NcclIdOffer::AwaitedUntil(Instant now) const {
  if (!awaited_until_.has_value() || now >= *awaited_until_) {
    return std::nullopt;
  }
  return awaited_until_;
}

NcclIdOffer::Renewal NcclIdOffer::Spend(const rendezvous::Place& place) {
  if (id_.empty()) return Renewal::kNotNeeded;
  if (place.nccl_id == id_) {
    id_.clear();
    // No renewal is requested here: whenever a round begins, the agent makes
    // the next NCCL id anyway.
    return Renewal::kNotNeeded;
  }
  if (place.group_rank != 0) return Renewal::kNotNeeded;
  id_.clear();
  return Renewal::kNeeded;
}

NcclIdOffer::Renewal NcclIdOffer::Distrust(int round) {
  // The coordinator repeats its order to stop the round until the next round
  // begins. Only the first of these orders discards the id. An id that was made
  // after that order is unused, and is kept.
  if (round == distrusted_round_) return Renewal::kNotNeeded;
  distrusted_round_ = round;
  if (id_.empty()) return Renewal::kNotNeeded;
  id_.clear();
  return Renewal::kNeeded;
}

}  // namespace muster::agent
