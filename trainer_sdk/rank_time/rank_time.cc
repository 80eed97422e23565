#include "trainer_sdk/rank_time/rank_time.h"

#include <algorithm>

#include "base/monotonic_clock.h"

namespace muster {

RankTime& RankTime::Process() {
  // Never destroyed, because threads may perform operations until the process
  // ends.
  static auto* const process = new RankTime();
  return *process;
}

void RankTime::Advance(Instant now) {
  // A thread reads the clock before it takes the lock. Meanwhile another
  // thread, with a later time, may have taken the lock first. So `now` may be
  // earlier than last_; in this case use last_.
  now = std::max(now, last_.value_or(now));
  const Duration passed = now - last_.value_or(now);
  (in_progress_ > 0 ? times_.blocked : times_.own) += passed;
  last_ = now;
}

void RankTime::Enter(Instant now) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (stopped_) return;
  Advance(now);
  ++in_progress_;
}

bool RankTime::Exit(Instant now) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (stopped_ || in_progress_ == 0) return false;
  Advance(now);
  --in_progress_;
  if (now < report_at_) return false;
  report_at_ = now + kReportInterval;
  return true;
}

void RankTime::AddDataWait(Duration waited) {
  const std::lock_guard<std::mutex> lock(mutex_);
  // A wait for data before the first collective is not counted, because all
  // RankTimes are measured from the first collective.
  if (last_.has_value()) times_.data += waited;
}

void RankTime::AddLinkTime(int peer, Duration limited, int64_t sent) {
  const std::lock_guard<std::mutex> lock(mutex_);
  times_.sent += sent;
  const auto link = std::lower_bound(
      links_.begin(), links_.end(), peer,
      [](const LinkTime& one, int rank) { return one.peer < rank; });
  if (link != links_.end() && link->peer == peer) {
    link->limited += limited;
  } else {
    links_.insert(link, {.peer = peer, .limited = limited});
  }
}

void RankTime::Stop() {
  const std::lock_guard<std::mutex> lock(mutex_);
  stopped_ = true;
}

std::optional<RankTimes> RankTime::Read(Instant now) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (stopped_ || !last_.has_value()) return std::nullopt;
  RankTimes times = times_;
  (in_progress_ > 0 ? times.blocked : times.own) +=
      std::max(now - *last_, Duration::zero());
  times.links.resize(std::min(links_.size(), kMaxLinks));
  std::partial_sort_copy(links_.begin(), links_.end(), times.links.begin(),
                         times.links.end(),
                         [](const LinkTime& a, const LinkTime& b) {
                           return a.limited > b.limited;
                         });
  return times;
}

std::optional<RankTimes> RankTime::TakeAtStep(Instant now) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    report_at_ = now + kStepInterval;
  }
  return Read(now);
}

DataWait::DataWait() : began_(MonotonicNow()) {}

DataWait::~DataWait() {
  RankTime::Process().AddDataWait(MonotonicNow() - began_);
}

}  // namespace muster
