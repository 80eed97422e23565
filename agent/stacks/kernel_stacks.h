#ifndef MUSTER_AGENT_STACKS_KERNEL_STACKS_H_
#define MUSTER_AGENT_STACKS_KERNEL_STACKS_H_

#include <cstdint>
#include <string>

namespace muster::agent {

// Where the threads of a process are as /proc tells, which needs no tool: one
// line a thread, the first thread first,
//   thread 4242 (python3), sleeping, in clock_nanosleep, waits in hrtimer_nano…
// and the kernel's own stack below it where this user may see it. Empty if the
// process is gone. At most 64 threads.
std::string KernelStacks(int64_t pid);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_STACKS_KERNEL_STACKS_H_
