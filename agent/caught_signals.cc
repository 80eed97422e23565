#include "agent/caught_signals.h"

#include <algorithm>

#include "agent/terminal/terminal_bridge.h"

namespace muster::agent {
namespace {

std::vector<int> NamedBy(const AgentOptions& options) {
  std::vector<int> signals = options.signals_to_handle;
  signals.insert(signals.end(), options.policy.signals_to_forward.begin(),
                 options.policy.signals_to_forward.end());
  signals.insert(signals.end(), options.policy.signals_to_leave.begin(),
                 options.policy.signals_to_leave.end());
  signals.insert(signals.end(), options.preemption.signals.begin(),
                 options.preemption.signals.end());
  return signals;
}

}  // namespace

std::vector<int> SignalsCaughtBy(const AgentOptions& options) {
  std::vector<int> signals = NamedBy(options);
  const std::vector<int> of_terminal = TerminalBridge::Signals();
  signals.insert(signals.end(), of_terminal.begin(), of_terminal.end());
  return signals;
}

bool IsTerminalSignal(const AgentOptions& options, int signal) {
  return std::ranges::count(NamedBy(options), signal) == 0 &&
         std::ranges::count(TerminalBridge::Signals(), signal) > 0;
}

}  // namespace muster::agent
