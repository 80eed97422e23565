#include "agent/lifecycle/health_watch.h"

#include <utility>

namespace muster::agent {

HealthWatch::HealthWatch(std::optional<Duration> interval)
    : interval_(interval),
      health_(interval.has_value() ? rendezvous::Health::kUnchecked
                                   : rendezvous::Health::kHealthy) {}

bool HealthWatch::RoundBegan() {
  round_runs_ = true;
  next_.reset();
  return std::exchange(under_way_, false);
}

void HealthWatch::RoundEnded() {
  if (!interval_.has_value()) return;
  round_runs_ = false;
  next_.reset();
  health_ = rendezvous::Health::kUnchecked;
  unhealthy_.clear();
}

bool HealthWatch::Stop() {
  stopped_ = true;
  return std::exchange(under_way_, false);
}

std::optional<uint64_t> HealthWatch::Due(Instant now) {
  if (!MayStart()) return std::nullopt;
  if (next_.has_value() && now < *next_) return std::nullopt;
  under_way_ = true;
  return ++check_;
}

bool HealthWatch::Found(Instant now, uint64_t check,
                        const std::string& unhealthy) {
  if (!under_way_ || check != check_) return false;
  under_way_ = false;
  next_ = now + *interval_;
  const rendezvous::Health before = health_;
  health_ = unhealthy.empty() ? rendezvous::Health::kHealthy
                              : rendezvous::Health::kUnhealthy;
  const bool changed = health_ != before || unhealthy != unhealthy_;
  unhealthy_ = unhealthy;
  return changed;
}

std::optional<Instant> HealthWatch::NextCheck() const {
  return MayStart() ? next_ : std::nullopt;
}

bool HealthWatch::MayStart() const {
  return interval_.has_value() && !stopped_ && !round_runs_ && !under_way_;
}

}  // namespace muster::agent
