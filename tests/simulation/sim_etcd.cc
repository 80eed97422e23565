#include "tests/simulation/sim_etcd.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace muster::simulation {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr Duration kFastest = microseconds(100);
constexpr Duration kFast = milliseconds(3);

}  // namespace

bool SimEtcd::IsCut(int daemon, Lost lost) const {
  const Instant now = stage_->queue.now();
  if (now < stopped_until_) return true;
  const auto found = cuts_.find({daemon, lost});
  return found != cuts_.end() && now < found->second;
}

Duration SimEtcd::Delay() {
  Random& random = stage_->takeover_random;
  const bool is_slow =
      stage_->queue.now() < slow_until_ && random.Chance(slow_share_);
  return random.Between(kFastest, is_slow ? slowest_ : kFast);
}

void SimEtcd::Call(int daemon, const Request& request) {
  stage_->queue.In(Delay(), [this, daemon, request] {
    if (IsCut(daemon, Lost::kRequests)) return;
    const std::function<void()> answer = request();
    stage_->queue.In(Delay(), [this, daemon, answer] {
      if (!IsCut(daemon, Lost::kAnswers)) answer();
    });
  });
}

std::optional<int64_t> SimEtcd::Claim(const rendezvous::Leadership::Lock& seen,
                                      uint64_t epoch) {
  if (keys_.lock != seen) return std::nullopt;
  ++revision_;
  keys_.lock = {.holding = revision_, .renewal = revision_};
  keys_.epoch = epoch;
  // The former leader can store no record any more. So its decisions that are
  // in no record have never been made.
  std::erase_if(events_, [this](const Event& event) {
    return event.changes > 0 && !IsStored(event);
  });
  Pass();
  return revision_;
}

bool SimEtcd::Renew(int64_t term) {
  if (keys_.lock.holding != term) return false;
  keys_.lock.renewal = ++revision_;
  return true;
}

bool SimEtcd::Release(int64_t term) {
  if (keys_.lock.holding != term) return false;
  keys_.lock.holding = 0;
  return true;
}

std::optional<int64_t> SimEtcd::Write(int64_t term, int64_t after, Kept kept) {
  if (keys_.lock.holding != term) return std::nullopt;
  if (keys_.written != after) {
    ++stage_->census["write out of order"];
    return std::nullopt;
  }
  keys_.written = ++revision_;
  uint64_t& stored = stored_[term];
  stored = std::max(stored, kept.changes);
  keys_.kept = std::move(kept);
  Pass();
  return revision_;
}

bool SimEtcd::IsStored(const Event& event) const {
  if (event.changes == 0) return true;
  const auto stored = stored_.find(event.term);
  return stored != stored_.end() && stored->second >= event.changes;
}

void SimEtcd::Tell(int64_t term, uint64_t changes, std::function<void()> pass) {
  events_.push_back({.term = term,
                     .changes = changes,
                     .when = stage_->queue.now(),
                     .pass = std::move(pass)});
  Pass();
}

void SimEtcd::Pass() {
  if (passing_) return;
  passing_ = true;
  while (!events_.empty() && IsStored(events_.front())) {
    const Event event = std::move(events_.front());
    events_.pop_front();
    stage_->told_at = event.when;
    event.pass();
  }
  stage_->told_at.reset();
  passing_ = false;
}

void SimEtcd::Cut(int daemon, Lost lost, Duration duration) {
  if (lost == Lost::kBoth) {
    Cut(daemon, Lost::kRequests, duration);
    Cut(daemon, Lost::kAnswers, duration);
    return;
  }
  cuts_[{daemon, lost}] = stage_->queue.now() + duration;
}

void SimEtcd::Stop(Duration duration) {
  stopped_until_ = stage_->queue.now() + duration;
}

void SimEtcd::Slow(Duration delay, int share, Duration duration) {
  slow_share_ = share;
  slowest_ = delay;
  slow_until_ = stage_->queue.now() + duration;
}

void SimEtcd::Heal() {
  cuts_.clear();
  stopped_until_ = slow_until_ = Instant();
}

}  // namespace muster::simulation
