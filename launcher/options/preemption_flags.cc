#include "launcher/options/preemption_flags.h"

#include <signal.h>

#include <algorithm>
#include <csignal>

#include "absl/strings/str_cat.h"
#include "launcher/options/option_values.h"
#include "rendezvous/protocol/signal_names.h"

namespace muster::launcher {
namespace {

absl::StatusOr<int> ReadWorkerSignal(const std::string& text) {
  if (text == "0") return 0;
  const absl::StatusOr<std::vector<int>> signals = ReadSignals(text);
  if (!signals.ok()) return signals.status();
  if (signals->size() == 1) return signals->front();
  return absl::InvalidArgumentError(
      "is not one signal; write for example SIGUSR1, or 0 for none");
}

// Slurm sends SIGCONT before SIGTERM, and alone when it lets a suspended job go
// on: by itself it announces nothing.
absl::StatusOr<std::vector<int>> ReadAnnouncements(const std::string& text) {
  absl::StatusOr<std::vector<int>> signals = ReadSignals(text);
  if (!signals.ok()) return signals;
  if (std::find(signals->begin(), signals->end(), SIGCONT) != signals->end()) {
    return absl::InvalidArgumentError(
        "SIGCONT announces nothing: it also comes when a suspended job goes "
        "on; write for example SIGUSR1,SIGTERM");
  }
  if (std::find(signals->begin(), signals->end(), SIGINT) != signals->end()) {
    return absl::InvalidArgumentError(
        "SIGINT is Ctrl-C, which ends the job; write for example "
        "SIGUSR1,SIGTERM");
  }
  return signals;
}

// Refuses a signal that is both in --signals-to-preempt and in
// --signals-to-leave, since a signal has one meaning.
void RefuseTwoMeanings(const std::vector<int>& announcements,
                       FlagValues& values) {
  const absl::StatusOr<std::vector<int>> leave =
      ReadSignals(values.Text("signals-to-leave"));
  if (!leave.ok()) return;  // said by whoever reads it
  for (const int number : announcements) {
    if (std::find(leave->begin(), leave->end(), number) == leave->end()) {
      continue;
    }
    values.Refuse("signals-to-preempt",
                  absl::InvalidArgumentError(
                      absl::StrCat(rendezvous::SignalName(number),
                                   " is in --signals-to-leave as well; "
                                   "write it in one of the two")));
    return;
  }
}

}  // namespace

agent::PreemptionOptions ReadPreemptionOptions(FlagValues& values) {
  agent::PreemptionOptions options;
  values.Into("signals-to-preempt", ReadAnnouncements, options.signals);
  RefuseTwoMeanings(options.signals, values);
  values.Into("preempt-signal", ReadWorkerSignal, options.worker_signal);
  values.Into("preempt-grace", ReadSeconds, options.grace);
  options.command = values.Text("on-preempt");
  bool requeue = false;
  values.Into("requeue", ReadSwitch, requeue);
  options.requeue = requeue ? agent::Requeue::kYes : agent::Requeue::kNo;
  return options;
}

}  // namespace muster::launcher
