// The part of Lifecycle that handles silent workers: workers that have reported
// progress and then are silent for too long. Such a worker is first suspected.
// Then its process is examined. Then the worker is reported as hung.

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <ratio>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/lifecycle/lifecycle.h"

namespace muster::agent {
namespace {

// The largest normal delay of a call of Step after its deadline. If a call is
// later, the agent itself was suspended.
constexpr Duration kMaxLate = std::chrono::milliseconds(100);

// The longest wait for the workers' stacks; longer than StackTaker's own limit.
constexpr Duration kStackTimeout = std::chrono::seconds(15);

// Converts to seconds, rounded to tenths, for messages: "31.2".
double Tenths(Duration duration) {
  using TenthsOfSeconds = std::chrono::duration<int64_t, std::deci>;
  return static_cast<double>(
             std::chrono::floor<TenthsOfSeconds>(duration).count()) /
         10;
}

std::string Describe(const HangWatch::Silence& silence, Instant now) {
  return absl::StrCat("hung: silent for ", Tenths(now - silence.since),
                      " s (its deadline is ", Tenths(silence.deadline), " s)",
                      silence.step.has_value()
                          ? absl::StrCat(", last step ", *silence.step)
                          : "");
}

}  // namespace

// Moves the workers' deadlines after the agent was suspended. A whole job may
// be suspended and resumed (Slurm's gang scheduling, a live migration of the
// machine). The job's workers then send no reports, although they do not hang.
// A suspension moves the deadlines only by its length. So a hung worker is
// found even if suspensions repeat.
void Lifecycle::ForgiveSilence(Instant due) {
  if (now_ <= due + kMaxLate) return;
  watch_.SuspendedFor(now_ - due);
  if (suspicion_.has_value()) suspicion_->give_up += now_ - due;
}

void Lifecycle::On(const WorkersReported& event) {
  if (!HasWorkers()) return;
  for (const WorkerSaid& said : event.said) RecordProgress(said);
}

void Lifecycle::RecordProgress(const WorkerSaid& said) {
  watch_.RecordProgress(now_, said.local_rank, said.message);
  if (!said.message.alive) return;
  ledger_.Hear(now_, said.message);
  // Only a report of the suspected worker, while the round is running, ends the
  // suspicion.
  if (phase_ != rendezvous::NodePhase::kRunning || !suspicion_.has_value() ||
      suspicion_->failure.local_rank != said.local_rank) {
    return;
  }
  Notice(absl::StrCat("rank ", suspicion_->failure.rank,
                      " reports again after ", Tenths(now_ - suspicion_->since),
                      " s of silence: it does not hang"));
  suspicion_.reset();
}

void Lifecycle::CheckForSilence() {
  if (phase_ != rendezvous::NodePhase::kRunning) return;
  if (suspicion_.has_value()) {
    if (now_ >= suspicion_->give_up) ReportHang();
    return;
  }
  // After a preemption notice no worker is suspected. A last checkpoint takes
  // longer than a step, and the grace period already limits the checkpoint's
  // time.
  if (preemption_.has_value()) return;
  const std::optional<HangWatch::Silence> silence = watch_.Overdue(now_);
  if (silence.has_value()) Suspect(*silence);
}

void Lifecycle::Suspect(const HangWatch::Silence& silence) {
  Suspicion suspicion{.overdue = silence,
                      .failure = SuspectedOf(silence),
                      .since = silence.since,
                      .give_up = now_ + kStackTimeout};
  RequestWorkerStates();
  suspicion_ = std::move(suspicion);
}

void Lifecycle::RequestWorkerStates() {
  LookAtWorkers look{.round = round_};
  for (const HangWatch::Silence& one : watch_.Silent()) {
    if (pids_[one.local_rank] == 0) continue;
    look.workers.push_back({one.local_rank, pids_[one.local_rank]});
  }
  if (look.workers.empty()) return;
  step_.actions.emplace_back(std::move(look));
}

rendezvous::Failure Lifecycle::SuspectedOf(
    const HangWatch::Silence& silence) const {
  rendezvous::Failure failure;
  failure.kind = rendezvous::FailureKind::kHung;
  failure.host = config_.node.host;
  failure.node_id = config_.node.node_id;
  failure.local_rank = silence.local_rank;
  failure.rank = place_->first_rank + silence.local_rank;
  failure.pid = pids_[silence.local_rank];
  failure.message = Describe(silence, now_);
  return failure;
}

// Requests the states of the workers' processes just before this node stops the
// workers of a broken round. A hang may have broken the round. If another node
// has reported the hang first, the worker that caused it may still be on this
// node. Once all workers are stopped, it can no longer be found out which
// worker blocked the others.
void Lifecycle::ExamineStopped() {
  if (phase_ == rendezvous::NodePhase::kRunning) RequestWorkerStates();
}

void Lifecycle::On(const WorkersSeen& event) {
  if (event.round != round_) return;
  const std::vector<SilentWorker> silent = SilentWorkers(event);
  if (phase_ == rendezvous::NodePhase::kStopping && !suspicion_.has_value()) {
    for (const SilentWorker& worker : silent) {
      if (worker.state != WorkerState::kStopped ||
          now_ < worker.silence.since + worker.silence.deadline / 2) {
        continue;
      }
      suspicion_ = Suspicion{.overdue = worker.silence};
      break;
    }
  }
  if (!suspicion_.has_value() || suspicion_->looked) return;
  suspicion_->looked = true;
  const HangBlame blame =
      BlameHang(now_, suspicion_->overdue, silent, event.records);
  suspicion_->since = blame.silence.since;
  rendezvous::Failure& failure = suspicion_->failure;
  failure = SuspectedOf(blame.silence);
  absl::StrAppend(&failure.message, blame.remark);
  if (blame.state == WorkerState::kStopped) failure.signal = SIGSTOP;
  RequestStacks();
}

std::vector<SilentWorker> Lifecycle::SilentWorkers(
    const WorkersSeen& event) const {
  std::vector<SilentWorker> silent;
  for (const HangWatch::Silence& silence : watch_.Silent()) {
    const auto seen = std::find_if(
        event.workers.begin(), event.workers.end(),
        [&](const auto& one) { return one.local_rank == silence.local_rank; });
    silent.push_back({.silence = silence,
                      .state = seen == event.workers.end() ? WorkerState::kOther
                                                           : seen->state});
  }
  return silent;
}

void Lifecycle::RequestStacks() {
  const rendezvous::Failure& failure = suspicion_->failure;
  Notice(absl::StrCat("rank ", failure.rank, " (local rank ",
                      failure.local_rank, ", pid ", failure.pid, ") ",
                      failure.message, "; looking at where it is"));
  TakeStacks take{.round = round_,
                  .workers = {{failure.local_rank, failure.pid}}};
  for (size_t i = 0; i < pids_.size(); ++i) {
    const int local_rank = static_cast<int>(i);
    if (take.workers.size() == kMaxStacks) break;
    if (pids_[i] == 0 || local_rank == failure.local_rank) continue;
    take.workers.push_back({local_rank, pids_[i]});
  }
  step_.actions.emplace_back(std::move(take));
}

void Lifecycle::On(const StackTaken& event) {
  if (!suspicion_.has_value() || event.round != round_ ||
      event.local_rank != suspicion_->failure.local_rank) {
    return;
  }
  suspicion_->failure.stack = event.stack;
  suspicion_->failure.stderr_tail = event.stderr_tail;
  suspicion_->failure.unix_time = event.unix_time;
  ReportHang();
}

void Lifecycle::ReportHang() {
  const rendezvous::Failure failure = std::move(suspicion_->failure);
  hung_ = failure.local_rank;
  hung_since_ = suspicion_->since;
  suspicion_.reset();
  if (failures_.size() < rendezvous::kMaxFailuresPerReport) {
    failures_.push_back(failure);
  }
  RecordFailure(failure);
  step_.ends = ends_;
  changed_ = true;
  if (phase_ == rendezvous::NodePhase::kRunning) {
    ReleaseWaiters(absl::StrCat("rank ", failure.rank, " ", failure.message));
    Stop(SIGTERM, config_.spec.shutdown_timeout);
    broke_here_ = true;
  }
  // A worker that SIGSTOP has stopped is killed at once, without a grace
  // period. Otherwise the program that sent SIGSTOP could stop the worker again
  // before the worker has handled SIGTERM. The worker would then live until the
  // end of the grace period.
  if (failure.signal == SIGSTOP) {
    step_.actions.emplace_back(
        SignalWorkers{.signal = SIGKILL, .local_rank = failure.local_rank});
  }
}

bool Lifecycle::IsEndOfHungWorker(const WorkerDown& event) {
  if (hung_ == event.local_rank) return true;
  if (!suspicion_.has_value()) return false;
  const bool died =
      event.failure.has_value() && !IsEndByPreemption(*event.failure);
  if (suspicion_->failure.local_rank != event.local_rank) {
    // A signal killed this worker while gdb read the stack of another worker
    // that seems to hang. The cause of this worker's death is the hang, or gdb
    // itself. So the hang is reported before the exit of this worker, although
    // the exit was noticed first.
    if (died && event.failure->kind == rendezvous::FailureKind::kSignal &&
        phase_ == rendezvous::NodePhase::kRunning && suspicion_->looked) {
      ReportHang();
    }
    return false;
  }
  if (phase_ == rendezvous::NodePhase::kRunning &&
      !(died && suspicion_->looked)) {
    // Drops the suspicion without a report of a hang. Either the worker
    // succeeded, or it failed before its stack was requested. In the second
    // case the worker's own error explains more than a hang would.
    suspicion_.reset();
    return false;
  }
  rendezvous::Failure& hang = suspicion_->failure;
  if (died) {
    hang.stderr_tail = event.failure->stderr_tail;
    hang.unix_time = event.failure->unix_time;
  }
  if (died && phase_ == rendezvous::NodePhase::kRunning) {
    // Reports the hang, with details of the worker's exit, instead of the exit.
    // The hang came first, and gdb itself may have ended the worker.
    hang.error_file = event.failure->error_file;
    hang.traceback = event.failure->traceback;
    const std::string then = absl::StrCat("; then, while its stack was taken: ",
                                          event.failure->message);
    if (hang.message.size() + then.size() <= rendezvous::kMaxLineBytes) {
      hang.message += then;
    }
  }
  ReportHang();
  return true;
}

std::optional<Instant> Lifecycle::HangDeadline() const {
  if (phase_ != rendezvous::NodePhase::kRunning) return std::nullopt;
  if (suspicion_.has_value()) return suspicion_->give_up;
  if (preemption_.has_value()) return std::nullopt;
  return watch_.NextDeadline();
}

}  // namespace muster::agent
