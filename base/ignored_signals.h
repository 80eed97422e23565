#ifndef MUSTER_BASE_IGNORED_SIGNALS_H_
#define MUSTER_BASE_IGNORED_SIGNALS_H_

#include <cstdint>
#include <vector>

namespace muster {

// Signals that this process ignores because its parent did: SIGHUP under nohup,
// SIGINT and SIGQUIT of a background job of sh, what a shell's `trap ''` names.
// They stay ignored, by the programs and by the workers. SIGPIPE, SIGXFSZ and
// SIGCHLD never count: runtimes ignore these for themselves, as Muster does
// SIGPIPE and SIGXFSZ (base/file_size_signal.h). Any thread; a blocked signal
// that is ignored counts.

bool IsIgnored(int signal);

// `signals` without the ignored ones, in the same order.
std::vector<int> WithoutIgnored(std::vector<int> signals);

// All ignored signals; bit n - 1 is signal n.
uint64_t IgnoredSignals();

}  // namespace muster

#endif  // MUSTER_BASE_IGNORED_SIGNALS_H_
