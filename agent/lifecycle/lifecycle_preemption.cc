// The part of Lifecycle that handles preemption: the cluster announces that it
// takes the nodes away. The workers get a notice, and may exit by themselves
// within a grace period.

#include <algorithm>
#include <csignal>

#include "absl/strings/str_cat.h"
#include "agent/lifecycle/lifecycle.h"
#include "rendezvous/protocol/signal_names.h"

namespace muster::agent {
namespace {

// The time after a preemption signal in which further preemption signals count
// as part of the same preemption. One preemption may reach the agent as several
// signals, for instance from Slurm's step daemon and from srun.
constexpr Duration kOneOrder = std::chrono::seconds(2);

// The longest wait for the coordinator's order to stop after the grace period
// has ended.
constexpr Duration kOrderTimeout = std::chrono::seconds(5);

// The time for the coordinator to declare silent nodes lost and to send the
// verdict. Counts from the end of the shutdown time-out, within which all
// workers must exit.
constexpr Duration kStopMargin = std::chrono::seconds(5);

}  // namespace

bool Lifecycle::AnnouncesPreemption(int signal) const {
  const auto& signals = config_.signals_to_preempt;
  return std::find(signals.begin(), signals.end(), signal) != signals.end();
}

void Lifecycle::CatchPreemption(int signal) {
  if (preemption_.has_value()) {
    if (now_ < preemption_->caught + kOneOrder) return;
    if (preemption_->deadline <= now_) return;
    NoticeForJob(absl::StrCat("caught ", rendezvous::SignalName(signal),
                              " after the notice: the grace is over"));
    preemption_->deadline = now_;
    changed_ = true;
    return;
  }
  Preempt({.signal = signal,
           .host = config_.node.host,
           .left = config_.spec.preempt_grace});
  if (!ever_answered_ || (!connected_ && !HasWorkers())) {
    GiveUp(rendezvous::kPreemptedExitCode,
           absl::StrCat("preempted by ", rendezvous::SignalName(signal),
                        " without a coordinator"));
  }
}

void Lifecycle::Preempt(const rendezvous::PreemptionNotice& notice) {
  const Instant deadline = now_ + std::max(notice.left, Duration::zero());
  if (preemption_.has_value()) {
    preemption_->deadline = std::min(preemption_->deadline, deadline);
    return;
  }
  preemption_ = Preemption{
      .notice = {.signal = notice.signal, .host = notice.host},
      .deadline = deadline,
      .caught = now_,
  };
  changed_ = true;
  if (health_.Stop()) step_.actions.emplace_back(DropCheck{});
  NoticeForJob(absl::StrCat(rendezvous::SignalName(notice.signal), " at ",
                            notice.host,
                            ": the job is being preempted; its workers have ",
                            ToSeconds(deadline - now_), " s"));
  // The announcement, which writes the preemption file, comes before the signal
  // to the workers, because a signal handler may read the file. Nothing is
  // announced if a user has cancelled the job.
  if (!Cancelled()) {
    announcing_until_ = deadline + config_.spec.shutdown_timeout;
    step_.actions.emplace_back(AnnouncePreemption{notice});
  }
  if (phase_ == rendezvous::NodePhase::kRunning &&
      config_.preempt_signal != 0) {
    step_.actions.emplace_back(SignalWorkers{.signal = config_.preempt_signal});
  }
}

// Whether the preemption explains a worker's exit. True in three cases:
// - The worker has no handler for the preemption signal, and this signal killed
//   it.
// - The cluster's own signal killed the worker. Some clusters signal every
//   process of a job.
// - The worker exited with kPreemptedExitCode.
//
// If the worker runs in a shell, the shell exits with 128 + signal in the first
// two cases.
bool Lifecycle::IsEndByPreemption(const rendezvous::Failure& failure) const {
  if (!preemption_.has_value() || phase_ != rendezvous::NodePhase::kRunning)
    return false;
  if (failure.kind == rendezvous::FailureKind::kExitCode &&
      failure.exit_code == rendezvous::kPreemptedExitCode) {
    return true;
  }
  for (const int signal :
       {config_.preempt_signal, preemption_->notice.signal}) {
    if (signal == 0) continue;
    if (failure.kind == rendezvous::FailureKind::kSignal &&
        failure.signal == signal) {
      return true;
    }
    if (failure.kind == rendezvous::FailureKind::kExitCode &&
        failure.exit_code == 128 + signal) {
      return true;
    }
  }
  return false;
}

bool Lifecycle::WorkersKeepGrace() const {
  return preemption_.has_value() && phase_ == rendezvous::NodePhase::kRunning &&
         now_ < preemption_->deadline && !cancel_.has_value() &&
         leave_.has_value() && leave_->verdict.has_value() &&
         leave_->verdict->outcome == rendezvous::Outcome::kPreempted;
}

// The time at which this node stops waiting for the coordinator after a
// preemption notice. Normally the coordinator stops the workers when the grace
// period is over, and sends the verdict when all have stopped. But the cluster
// may already have removed the coordinator. This node must then exit by itself
// before the cluster kills the agent, because a killed agent counts as a
// failure.
std::optional<Instant> Lifecycle::PreemptionLimit() const {
  if (!preemption_.has_value() || leave_.has_value()) return std::nullopt;
  const Instant ordered = preemption_->deadline + kOrderTimeout;
  const bool runs_workers =
      phase_ == rendezvous::NodePhase::kRunning && (pending_ > 0 || any_left_);
  if (runs_workers) return ordered;
  return ordered + config_.spec.shutdown_timeout + kStopMargin;
}

void Lifecycle::StopAtPreemptionLimit() {
  const std::optional<Instant> limit = PreemptionLimit();
  if (!limit.has_value() || now_ < *limit) return;
  GiveUp(rendezvous::kPreemptedExitCode,
         absl::StrCat(
             "preempted: ", rendezvous::SignalName(preemption_->notice.signal),
             " at ", preemption_->notice.host,
             "; the grace is over, and the coordinator at ", config_.endpoint,
             " has not ended the job"));
}

void Lifecycle::On(const PreemptionAnnounced&) {
  announcing_until_.reset();
  Settle();
}

void Lifecycle::EndAnnouncementWhenDue() {
  if (!announcing_until_.has_value()) return;
  if (now_ < *announcing_until_ && !Cancelled()) return;
  step_.actions.emplace_back(EndAnnouncement{
      Cancelled() ? "the job is being cancelled" : "its time is over"});
  announcing_until_.reset();
  Settle();
}

bool Lifecycle::Cancelled() const {
  if (cancel_.has_value() && cancel_->signal != SIGTERM) return true;
  if (!directive_.has_value()) return false;
  return (directive_->kind == rendezvous::DirectiveKind::kStop &&
          directive_->stop.cancelled) ||
         (directive_->kind == rendezvous::DirectiveKind::kFinished &&
          directive_->verdict.outcome == rendezvous::Outcome::kCancelled);
}

std::optional<rendezvous::PreemptionNotice> Lifecycle::PreemptionNow() const {
  if (!preemption_.has_value()) return std::nullopt;
  rendezvous::PreemptionNotice notice = preemption_->notice;
  notice.left = std::max(preemption_->deadline - now_, Duration::zero());
  return notice;
}

}  // namespace muster::agent
