#ifndef MUSTER_AGENT_STACKS_KERNEL_STACKS_H_
#define MUSTER_AGENT_STACKS_KERNEL_STACKS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "agent/lifecycle/hang_watch.h"

namespace muster::agent {

// The state letter in the text of /proc/<pid>/stat; '?': none.
char StateLetter(std::string_view stat);

// The state of the process's first thread; kEnded if the process is gone. Does
// not block: the kernel takes no lock of the process's memory for this file.
WorkerState ReadWorkerState(int64_t pid);

// Describes each thread of a process from /proc, without any tool; one line a
// thread, the first thread first:
//
//   thread 4242 (python3), sleeping, in clock_nanosleep, waits in hrtimer_nano…
//
// The kernel stack follows where this user may read it. Empty if the process is
// gone. At most 64 threads.
std::string KernelStacks(int64_t pid);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_STACKS_KERNEL_STACKS_H_
