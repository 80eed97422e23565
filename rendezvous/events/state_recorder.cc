#include "rendezvous/events/state_recorder.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/monotonic_clock.h"

namespace muster::rendezvous {

void StateRecorder::Begin(Read read, Write write) {
  thread_ = std::thread([this, read = std::move(read),
                         write = std::move(write)] { Run(read, write); });
}

void StateRecorder::OnDecision(const std::string& run_id,
                               const Decision& decision) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    schedule_.OnDecision(run_id, decision.kind, MonotonicNow());
  }
  changed_.notify_all();
}

void StateRecorder::Finish() {
  if (!thread_.joinable()) return;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    is_ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void StateRecorder::Run(const Read& read, const Write& write) {
  std::unique_lock<std::mutex> lock(mutex_);
  Instant paused_until = MonotonicNow();
  while (true) {
    const std::optional<Instant> due = schedule_.NextDue();
    const Instant now = MonotonicNow();
    const bool is_due = due.has_value() && *due <= now;
    if (is_ending_ && !is_due) return;
    if (!is_due || (now < paused_until && !is_ending_)) {
      const Instant next =
          std::max(due.value_or(now + std::chrono::hours(1)), paused_until);
      changed_.wait_until(lock, ToSteady(next));
      continue;
    }
    const std::vector<StateSchedule::Due> taken = schedule_.TakeDue(now);
    if (taken.size() == StateSchedule::kMaxDue) {
      paused_until = now + StateSchedule::kPause;
    }
    for (const auto& [run_id, detail] : taken) {
      lock.unlock();
      const absl::StatusOr<JobStatus> job = read(run_id);
      if (job.ok()) write(*job, detail);
      lock.lock();
      if (job.ok()) {
        schedule_.OnState(*job, MonotonicNow());
      } else {
        schedule_.Forget(run_id);
      }
    }
  }
}

}  // namespace muster::rendezvous
