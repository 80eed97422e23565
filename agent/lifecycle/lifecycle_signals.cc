// The part of Lifecycle that handles signals: those that this node receives,
// and those that it forwards to the workers.

#include <algorithm>
#include <csignal>

#include "absl/strings/str_cat.h"
#include "agent/lifecycle/lifecycle.h"
#include "rendezvous/protocol/signal_names.h"

namespace muster::agent {
namespace {

// The longest time after a Ctrl-C in which this node waits for the coordinator
// to stop the whole job. After this time the node stops its own workers.
constexpr Duration kCancelTimeout = std::chrono::seconds(5);

// Returns the reason why a node leaves its job on `signal`, for messages.
std::string LeaveReason(int signal) {
  return signal == kConnectionLostSignal
             ? "the connection to the launch that started it was lost"
             : rendezvous::SignalName(signal);
}

}  // namespace

void Lifecycle::On(const SignalCaught& event) {
  if (AnnouncesPreemption(event.signal)) {
    CatchPreemption(event.signal);
    return;
  }
  if (std::ranges::count(config_.policy.signals_to_leave, event.signal) > 0) {
    if (leaving_.has_value()) {
      Notice("caught a second signal to leave: killing the workers now");
      if (HasWorkers()) Stop(event.signal, Duration::zero());
      return;
    }
    Notice(absl::StrCat("caught ", rendezvous::SignalName(event.signal),
                        ": leaving the job (once more: at once)"));
    leaving_ = LeaveReason(event.signal);
    if (event.signal == kConnectionLostSignal) {
      leaving_exit_code_ = kWorkersLostExitCode;
    }
    changed_ = true;
    cancel_deadline_ = now_ + kCancelTimeout;
    if (!ever_answered_ || !connected_) {
      GiveUp(leaving_exit_code_,
             absl::StrCat("left by ", rendezvous::SignalName(event.signal),
                          " without a coordinator"));
    }
    return;
  }
  if (std::ranges::count(config_.policy.signals_to_forward, event.signal) > 0) {
    signals_.push_back({++newest_signal_, event.signal});
    if (signals_.size() > rendezvous::kMaxSignalNotices)
      signals_.erase(signals_.begin());
    changed_ = true;
    return;
  }
  if (cancel_.has_value()) {
    NoticeForJob("caught a second signal: killing the workers now");
    cancel_->at_once = true;
    if (HasWorkers()) Stop(event.signal, Duration::zero());
    if (announcing_until_.has_value()) announcing_until_ = now_;
  } else {
    NoticeForJob(absl::StrCat("caught ", rendezvous::SignalName(event.signal),
                              ": stopping the job (once more: at once)"));
    cancel_ = rendezvous::CancelWish{.signal = event.signal};
    cancel_deadline_ = now_ + kCancelTimeout;
  }
  changed_ = true;
  if (!ever_answered_ || !connected_) {
    GiveUp(128 + event.signal,
           absl::StrCat("stopped by ", rendezvous::SignalName(event.signal),
                        " without a coordinator"));
  }
}

void Lifecycle::ForwardSignals() {
  if (phase_ != rendezvous::NodePhase::kRunning) return;
  for (const rendezvous::SignalNotice& notice : directive_->signals) {
    if (notice.ordinal <= forwarded_) continue;
    forwarded_ = notice.ordinal;
    step_.actions.emplace_back(SignalWorkers{.signal = notice.signal});
    if (!PrintsForJob()) continue;
    Notice(absl::StrCat(rendezvous::SignalName(notice.signal),
                        " goes to every worker"));
  }
}

}  // namespace muster::agent
