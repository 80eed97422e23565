#ifndef MUSTER_AGENT_STACKS_KERNEL_STACKS_H_
#define MUSTER_AGENT_STACKS_KERNEL_STACKS_H_

#include <cstdint>
#include <string>

namespace muster::agent {

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
