#ifndef MUSTER_AGENT_STACKS_KERNEL_STACKS_H_
#define MUSTER_AGENT_STACKS_KERNEL_STACKS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "agent/lifecycle/hang_watch.h"

namespace muster::agent {

// The state letter in the text of /proc/<pid>/stat; '?' if the text has none.
char StateLetter(std::string_view stat);

// The state of the process's main thread; kEnded if the process does not exist.
// Does not block: to show /proc/<pid>/stat, the kernel takes no lock of the
// process's memory.
WorkerState ReadWorkerState(int64_t pid);

// Describes each thread of a process with the information in /proc, without any
// tool; one line per thread, the main thread first:
//
//   thread 4242 (python3), sleeping, in clock_nanosleep, waits in hrtimer_nano…
//
// The lines of the thread's kernel stack are added below this line if this user
// may read them. Returns an empty text if the process does not exist. Describes
// at most 64 threads.
std::string KernelStacks(int64_t pid);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_STACKS_KERNEL_STACKS_H_
