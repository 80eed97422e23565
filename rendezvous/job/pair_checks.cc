#include "rendezvous/job/pair_checks.h"

namespace muster::rendezvous {

bool PairChecks::Suspect() {
  if (when_ != NetworkCheckTime::kSuspicion) return false;
  const bool was_due = is_due();
  is_suspicious_ = true;
  return !was_due;
}

void PairChecks::End() {
  is_first_due_ = false;
  is_suspicious_ = false;
  check_.reset();
}

bool PairChecks::BeginRound(
    Instant now, const std::vector<NetworkCheck::Participant>& present) {
  if (!check_.has_value()) check_.emplace(now);
  if (!check_->BeginRound(now, measurements_ + 1, present)) return false;
  ++measurements_;
  return true;
}

void PairChecks::Take(const std::string& node_id,
                      const std::optional<PairMeasurement>& measured,
                      uint64_t epoch) {
  if (!check_.has_value() || !measured.has_value() ||
      measured->epoch != epoch) {
    return;
  }
  check_->Take(node_id, *measured);
}

}  // namespace muster::rendezvous
