#include "agent/lifecycle/hang_watch.h"

#include <algorithm>

#include "base/check.h"

namespace muster::agent {
namespace {

// Copies the fields that `message` has, and leaves the others of `said`
// unchanged.
void Remember(const ProgressMessage& message, ProgressMessage& said) {
  if (message.step) said.step = message.step;
  if (message.loss) said.loss = message.loss;
  if (message.tokens_per_s) said.tokens_per_s = message.tokens_per_s;
  if (message.status) said.status = message.status;
  if (message.watchdog) said.watchdog = message.watchdog;
}

}  // namespace

void HangWatch::Begin(int workers) {
  workers_.assign(static_cast<size_t>(workers), Worker());
}

void HangWatch::RecordProgress(Instant now, int local_rank,
                               const ProgressMessage& message) {
  MUSTER_CHECK(local_rank >= 0 &&
               static_cast<size_t>(local_rank) < workers_.size())
      << "local rank " << local_rank << " of " << workers_.size();
  if (!message.alive) return;
  Worker& worker = workers_[local_rank];
  if (worker.heard.has_value()) {
    ++worker.pauses;
    worker.longest_pause = std::max(worker.longest_pause, now - *worker.heard);
  }
  worker.heard = now;
  Remember(message, worker.said);
}

void HangWatch::End(int local_rank) {
  if (static_cast<size_t>(local_rank) < workers_.size()) {
    workers_[local_rank].watched = false;
  }
}

void HangWatch::SuspendedFor(Duration lost) {
  for (Worker& worker : workers_) {
    if (worker.heard.has_value()) *worker.heard += lost;
  }
}

std::optional<Duration> HangWatch::DeadlineOf(const Worker& worker) const {
  if (policy_.detection == HangDetection::kOff) return std::nullopt;
  if (worker.said.watchdog.has_value()) {
    if (*worker.said.watchdog == Duration::zero()) return std::nullopt;
    return worker.said.watchdog;
  }
  if (policy_.detection == HangDetection::kGiven) return policy_.timeout;
  if (worker.pauses < kLeastPauses) return std::nullopt;
  const Duration longest = worker.longest_pause;
  const Duration ample = longest + std::min(9 * longest, kMaxBeyondLongest);
  return std::max(kLeastLearned, ample);
}

std::optional<Instant> HangWatch::DueOf(const Worker& worker) const {
  if (!worker.watched || !worker.heard.has_value()) return std::nullopt;
  const std::optional<Duration> deadline = DeadlineOf(worker);
  if (!deadline.has_value()) return std::nullopt;
  return *worker.heard + *deadline;
}

std::optional<HangWatch::Silence> HangWatch::SilenceOf(int local_rank) const {
  const Worker& worker = workers_[local_rank];
  if (!DueOf(worker).has_value()) return std::nullopt;
  return Silence{.local_rank = local_rank,
                 .since = *worker.heard,
                 .deadline = *DeadlineOf(worker),
                 .step = worker.said.step};
}

std::vector<HangWatch::Silence> HangWatch::Silent() const {
  std::vector<Silence> silent;
  for (size_t i = 0; i < workers_.size(); ++i) {
    const std::optional<Silence> one = SilenceOf(static_cast<int>(i));
    if (one.has_value()) silent.push_back(*one);
  }
  return silent;
}

std::optional<HangWatch::Silence> HangWatch::Overdue(Instant now) const {
  std::optional<Silence> first;
  for (const Silence& silence : Silent()) {
    if (now < silence.since + silence.deadline) continue;
    if (first.has_value() && first->since <= silence.since) continue;
    first = silence;
  }
  return first;
}

std::optional<Instant> HangWatch::NextDeadline() const {
  std::optional<Instant> next;
  for (const Worker& worker : workers_) {
    const std::optional<Instant> due = DueOf(worker);
    if (due.has_value() && (!next.has_value() || *due < *next)) next = due;
  }
  return next;
}

std::vector<rendezvous::WorkerProgress> HangWatch::Progress(Instant now) const {
  std::vector<rendezvous::WorkerProgress> progress;
  for (size_t i = 0; i < workers_.size(); ++i) {
    const Worker& worker = workers_[i];
    if (!worker.heard.has_value()) continue;
    progress.push_back(
        {.local_rank = static_cast<int>(i),
         .step = worker.said.step,
         .loss = worker.said.loss,
         .tokens_per_s = worker.said.tokens_per_s,
         .status = worker.said.status.value_or(""),
         .silent_for = now - *worker.heard,
         .deadline = worker.watched
                         ? DeadlineOf(worker).value_or(Duration::zero())
                         : Duration::zero()});
  }
  return progress;
}

}  // namespace muster::agent
