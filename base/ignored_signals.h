#ifndef MUSTER_BASE_IGNORED_SIGNALS_H_
#define MUSTER_BASE_IGNORED_SIGNALS_H_

#include <cstdint>
#include <vector>

namespace muster {

// Whether this process ignores `signal` because its parent did. Examples:
// SIGHUP under nohup, SIGINT and SIGQUIT in a background job of sh, the signals
// of a shell's `trap ''`. Muster's programs and the workers continue to ignore
// such signals.
//
// False for SIGPIPE, SIGXFSZ and SIGCHLD, because runtimes or Muster itself
// ignore these for their own purposes. It does not matter whether the signal is
// blocked. Any thread.
bool IsIgnored(int signal);

// Returns `signals` without those for which IsIgnored is true, in the same
// order.
std::vector<int> WithoutIgnored(std::vector<int> signals);

// The signals for which IsIgnored is true; bit n - 1 is signal n.
uint64_t IgnoredSignals();

}  // namespace muster

#endif  // MUSTER_BASE_IGNORED_SIGNALS_H_
