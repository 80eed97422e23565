#ifndef MUSTER_AGENT_CAUGHT_SIGNALS_H_
#define MUSTER_AGENT_CAUGHT_SIGNALS_H_

#include <vector>

#include "agent/agent_options.h"

namespace muster::agent {

// All signals that an agent reads from its signalfd: those named in its options
// and, if it runs on a terminal, those of job control.
std::vector<int> SignalsCaughtBy(const AgentOptions& options);

// Whether the agent handles `signal` as one of its terminal's job control
// (SIGTSTP, SIGCONT, SIGWINCH). False if this process has no terminal, or if
// the options name the signal, for instance to forward it to the workers.
bool IsTerminalSignal(const AgentOptions& options, int signal);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_CAUGHT_SIGNALS_H_
