#ifndef MUSTER_LAUNCHER_INIT_PROCESS_H_
#define MUSTER_LAUNCHER_INIT_PROCESS_H_

#include <functional>

namespace muster::launcher {

// Runs `program` and returns its exit code. Where this process is process 1 (a
// container's first), `program` runs in a child, and this process does what
// the kernel expects of process 1: it reaps whatever is orphaned into it and
// passes on the signals that it gets; it returns when the child has ended,
// 128 + signal if by a signal. Call while there is one thread.
int RunAsInit(const std::function<int()>& program);

// The same whatever this process' id is.
int RunUnderInit(const std::function<int()>& program);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_INIT_PROCESS_H_
