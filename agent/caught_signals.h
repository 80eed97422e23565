#ifndef MUSTER_AGENT_CAUGHT_SIGNALS_H_
#define MUSTER_AGENT_CAUGHT_SIGNALS_H_

#include <vector>

#include "agent/agent_options.h"

namespace muster::agent {

// All signals that an agent reads from its signalfd: the signals that its
// options name and, if the agent runs on a terminal, the terminal's signals
// (IsTerminalSignal).
std::vector<int> SignalsCaughtBy(const AgentOptions& options);

// Whether the agent handles `signal` as a signal of its terminal: SIGTSTP and
// SIGCONT (job control) or SIGWINCH. False if this process has no terminal.
// Also false if the options name the signal, for instance to forward it to the
// workers.
bool IsTerminalSignal(const AgentOptions& options, int signal);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_CAUGHT_SIGNALS_H_
