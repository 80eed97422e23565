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

// Ignores SIGXFSZ in this process. A write beyond `ulimit -f` then fails with
// EFBIG instead of killing the process. Call first in main, before any thread
// writes to a file.
void IgnoreFileSizeSignal();

// Whether SIGXFSZ was ignored before the first call of IgnoreFileSizeSignal. A
// program that this process starts must get the original action back, because
// an ignored signal stays ignored after exec.
bool FileSizeSignalWasIgnored();

// Gives SIGXFSZ the action that it had before IgnoreFileSizeSignal. For a
// process that is about to execute a program; async-signal-safe.
void RestoreFileSizeSignal();

}  // namespace muster

#endif  // MUSTER_BASE_IGNORED_SIGNALS_H_
