#ifndef MUSTER_LAUNCHER_INIT_PROCESS_H_
#define MUSTER_LAUNCHER_INIT_PROCESS_H_

#include <functional>

namespace muster::launcher {

// Runs `program` and returns its exit code. If this process is process 1 (the
// first of a container), runs `program` in a child. Meanwhile this process does
// what the kernel expects of process 1: it reaps orphans, and passes signals on
// to the child. Returns when the child has exited. The result is 128 + signal
// if a signal killed the child. Must be called while the process has one
// thread.
int RunAsInit(const std::function<int()>& program);

// Like RunAsInit, but always runs `program` in a child and does the work of
// process 1, whatever the id of this process is.
int RunUnderInit(const std::function<int()>& program);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_INIT_PROCESS_H_
