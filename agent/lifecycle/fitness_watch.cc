#include "agent/lifecycle/fitness_watch.h"

#include <utility>

namespace muster::agent {

FitnessWatch::FitnessWatch(std::optional<Duration> interval)
    : interval_(interval),
      fitness_(interval.has_value() ? rendezvous::Fitness::kUnchecked
                                    : rendezvous::Fitness::kFit) {}

bool FitnessWatch::RoundBegan() {
  stopped_ = true;
  next_.reset();
  return std::exchange(under_way_, false);
}

void FitnessWatch::RoundEnded() {
  if (!interval_.has_value()) return;
  stopped_ = false;
  next_.reset();
  fitness_ = rendezvous::Fitness::kUnchecked;
  unfit_.clear();
}

bool FitnessWatch::Stop() { return RoundBegan(); }

std::optional<uint64_t> FitnessWatch::Due(Instant now) {
  if (!interval_.has_value() || stopped_ || under_way_) return std::nullopt;
  if (next_.has_value() && now < *next_) return std::nullopt;
  under_way_ = true;
  return ++check_;
}

bool FitnessWatch::Found(Instant now, uint64_t check,
                         const std::string& unfit) {
  if (!under_way_ || check != check_) return false;
  under_way_ = false;
  next_ = now + *interval_;
  const rendezvous::Fitness before = fitness_;
  fitness_ =
      unfit.empty() ? rendezvous::Fitness::kFit : rendezvous::Fitness::kUnfit;
  const bool changed = fitness_ != before || unfit != unfit_;
  unfit_ = unfit;
  return changed;
}

std::optional<Instant> FitnessWatch::NextCheck() const {
  if (!interval_.has_value() || stopped_ || under_way_) return std::nullopt;
  return next_;
}

}  // namespace muster::agent
