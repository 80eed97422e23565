#include "launcher/launch_plan.h"

#include <signal.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/ignored_signals.h"
#include "base/monotonic_clock.h"
#include "base/net/resolve.h"
#include "base/time.h"
#include "launcher/options/agent_plan.h"
#include "rendezvous/protocol/signal_names.h"
#include "rendezvous/protocol/verdict.h"

namespace muster::launcher {
namespace {

constexpr Duration kFirstPause = std::chrono::milliseconds(100);
constexpr Duration kLongestPause = std::chrono::seconds(2);

// The signals on which PlanMeeting stops waiting for the coordinator's host
// name to resolve.
class EndingSignals {
 public:
  explicit EndingSignals(const RunOptions& options) : options_(options) {
    sigemptyset(&signals_);
    for (const int signal : options.preemption.signals) Add(signal);
    for (const int signal : options.policy.signals_to_leave) Add(signal);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
      if (std::ranges::count(options.signals_to_handle, signal) > 0) {
        Add(signal);
      }
    }
    pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
  }

  bool IsPending() const {
    sigset_t pending;
    sigpending(&pending);
    sigset_t ending;
    sigandset(&ending, &signals_, &pending);
    return !sigisemptyset(&ending);
  }

  // Waits up to `timeout` for one of the signals. Returns its number; 0 if no
  // signal arrived.
  int Await(Duration timeout) const {
    const timespec left = ToTimespec(timeout);
    return std::max(sigtimedwait(&signals_, nullptr, &left), 0);
  }

  int ExitCode(int signal) const {
    if (std::ranges::count(options_.preemption.signals, signal) > 0) {
      return rendezvous::kPreemptedExitCode;
    }
    if (signal == agent::kConnectionLostSignal) {
      return agent::kWorkersLostExitCode;
    }
    return std::ranges::count(options_.policy.signals_to_leave, signal) > 0
               ? 0
               : 128 + signal;
  }

 private:
  void Add(int signal) {
    if (!IsIgnored(signal)) sigaddset(&signals_, signal);
  }

  const RunOptions& options_;
  sigset_t signals_;
};

}  // namespace

absl::StatusOr<LaunchPlan> PlanLaunch(const RunOptions& options,
                                      const Meeting& meeting,
                                      const MachineFacts& facts,
                                      const ResolvedHost& resolved) {
  absl::StatusOr<CoordinatorChoice> choice =
      ChooseCoordinator(meeting, options, facts, resolved);
  if (!choice.ok()) return choice.status();
  absl::StatusOr<agent::AgentOptions> agent =
      PlanAgent(options, facts, meeting);
  if (!agent.ok()) return agent.status();
  return LaunchPlan{*std::move(agent), *std::move(choice)};
}

absl::StatusOr<LaunchPlan> PlanMeeting(const RunOptions& options,
                                       const Meeting& meeting,
                                       const MachineFacts& facts,
                                       const Voice& voice, int* exit_code) {
  const bool are_daemons =
      meeting.endpoints.size() > 1 &&
      OwnersOfEndpoints(options) == EndpointOwners::kDaemons;
  if (meeting.alone || are_daemons) {
    return PlanLaunch(options, meeting, facts, {});
  }
  const rendezvous::Endpoint& endpoint = meeting.endpoints.front();
  const EndingSignals signals(options);
  const Instant deadline = MonotonicNow() + options.policy.connect_timeout;
  Duration pause = kFirstPause;
  for (bool is_first = true;; is_first = false) {
    const Duration left = std::max(Duration::zero(), deadline - MonotonicNow());
    const absl::StatusOr<std::vector<SocketAddress>> addresses = Resolve(
        endpoint.host, endpoint.port, {.timeout = left, .given_up = [&signals] {
                                         return signals.IsPending();
                                       }});
    ResolvedHost resolved;
    if (addresses.ok()) {
      for (const SocketAddress& address : *addresses) {
        resolved.addresses.push_back(address.Ip());
      }
    }
    absl::StatusOr<LaunchPlan> plan =
        PlanLaunch(options, meeting, facts, resolved);
    if (!absl::IsUnavailable(plan.status())) return plan;
    if (MonotonicNow() + pause >= deadline) return plan.status();
    if (is_first) {
      voice.Notice(absl::StrCat(plan.status().message(), "; trying again for ",
                                ToSeconds(options.policy.connect_timeout),
                                " s"));
    }
    if (const int signal = signals.Await(pause); signal != 0) {
      *exit_code = signals.ExitCode(signal);
      return absl::CancelledError(
          absl::StrCat("caught ", rendezvous::SignalName(signal),
                       " before the job was met: ", plan.status().message()));
    }
    pause = std::min(2 * pause, kLongestPause);
  }
}

}  // namespace muster::launcher
