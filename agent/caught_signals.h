#ifndef MUSTER_AGENT_CAUGHT_SIGNALS_H_
#define MUSTER_AGENT_CAUGHT_SIGNALS_H_

#include <vector>

#include "agent/agent_options.h"

namespace muster::agent {

// Every signal that an agent takes through its signalfd: those that its options
// name, and where it runs on a terminal those of its job control.
std::vector<int> SignalsCaughtBy(const AgentOptions& options);

// Whether `signal` is one of job control. A signal that the options name is
// none: it does what they say.
bool IsTerminalSignal(const AgentOptions& options, int signal);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_CAUGHT_SIGNALS_H_
