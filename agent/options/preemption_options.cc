#include "agent/options/preemption_options.h"

#include "agent/options/option_values.h"

namespace muster {
namespace {

absl::StatusOr<int> ReadWorkerSignal(const std::string& text) {
  if (text == "0") return 0;
  const absl::StatusOr<std::vector<int>> signals = ReadSignals(text);
  if (!signals.ok()) return signals.status();
  if (signals->size() == 1) return signals->front();
  return absl::InvalidArgumentError(
      "is not one signal; write for example SIGUSR1, or 0 for none");
}

}  // namespace

PreemptionOptions ReadPreemptionOptions(FlagValues& values) {
  PreemptionOptions options;
  values.Into("signals-to-preempt", ReadSignals, options.signals);
  values.Into("preempt-signal", ReadWorkerSignal, options.worker_signal);
  values.Into("preempt-grace", ReadSeconds, options.grace);
  options.command = values.Text("on-preempt");
  bool requeue = false;
  values.Into("requeue", ReadSwitch, requeue);
  options.requeue = requeue ? Requeue::kYes : Requeue::kNo;
  return options;
}

}  // namespace muster
