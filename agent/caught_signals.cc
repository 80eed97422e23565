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

bool Holds(const std::vector<int>& signals, int signal) {
  return std::find(signals.begin(), signals.end(), signal) != signals.end();
}

}  // namespace

std::vector<int> SignalsCaughtBy(const AgentOptions& options) {
  std::vector<int> signals = NamedBy(options);
  const std::vector<int> of_terminal = TerminalBridge::Signals();
  signals.insert(signals.end(), of_terminal.begin(), of_terminal.end());
  return signals;
}

bool IsTerminalSignal(const AgentOptions& options, int signal) {
  return !Holds(NamedBy(options), signal) &&
         Holds(TerminalBridge::Signals(), signal);
}

}  // namespace muster::agent
