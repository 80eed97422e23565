// The cluster takes the job's nodes away, and has said so: workers are told,
// and may end by themselves.

#include <algorithm>
#include <csignal>

#include "absl/strings/str_cat.h"
#include "agent/lifecycle/lifecycle.h"
#include "rendezvous/protocol/signal_names.h"

namespace muster::agent {
namespace {

// A cluster's one order may reach this process several times: from its step's
// daemon, and from the program that started it, which hands its signals on.
constexpr Duration kOneOrder = std::chrono::seconds(2);

// How much later than the end of the grace the coordinator's order to stop may
// come.
constexpr Duration kOrderPatience = std::chrono::seconds(5);

// How much longer than the shutdown time-out the other nodes may take to stop
// before the coordinator takes them for lost and tells the verdict.
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
  // The file first: who gets the signal may look for it.
  if (!Cancelled()) {
    announcing_until_ = deadline + config_.spec.shutdown_timeout;
    step_.actions.emplace_back(AnnouncePreemption{notice});
  }
  if (phase_ == rendezvous::NodePhase::kRunning &&
      config_.preempt_signal != 0) {
    step_.actions.emplace_back(SignalWorkers{.signal = config_.preempt_signal});
  }
}

// A worker that does not handle the signal it was sent is gone by preemption,
// and has not failed; so is one that the cluster's own signal has reached (some
// signal every process of a job). A shell says it with its exit code. One that
// ends with the job's own code for it has understood.
bool Lifecycle::EndedByPreemption(const rendezvous::Failure& failure) const {
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

bool Lifecycle::GraceGoesOn() const {
  return preemption_.has_value() && phase_ == rendezvous::NodePhase::kRunning &&
         now_ < preemption_->deadline && !cancel_.has_value() &&
         leave_.has_value() && leave_->verdict.has_value() &&
         leave_->verdict->outcome == rendezvous::Outcome::kPreempted;
}

// The coordinator stops the workers when the grace is over, and tells the
// verdict when all have stopped. The cluster may have taken the coordinator
// first: a node that waited for it as long as at other times would be killed
// by the cluster in the middle, and its end taken for a failure.
std::optional<Instant> Lifecycle::PreemptionLimit() const {
  if (!preemption_.has_value() || leave_.has_value()) return std::nullopt;
  const Instant ordered = preemption_->deadline + kOrderPatience;
  const bool runs_workers =
      phase_ == rendezvous::NodePhase::kRunning && (pending_ > 0 || any_left_);
  if (runs_workers) return ordered;
  return ordered + config_.spec.shutdown_timeout + kStopMargin;
}

void Lifecycle::MindThePreemption() {
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

void Lifecycle::MindTheAnnouncement() {
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
          directive_->stop.cause == rendezvous::StopCause::kCancelled) ||
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
