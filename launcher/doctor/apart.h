#ifndef MUSTER_LAUNCHER_DOCTOR_APART_H_
#define MUSTER_LAUNCHER_DOCTOR_APART_H_

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "base/time.h"

namespace muster::launcher {

// Runs `work` in a child process and returns the exit code that `work` returns.
// Does not wait for the child's exit, because a hanging driver or file system
// may prevent that exit. Call while this process has one thread.
//
// DeadlineExceeded: no exit code within `timeout`; the child was killed.
// Internal: the child died, for example by a signal in a driver's library; the
// message names the signal.
absl::StatusOr<int> RunApart(Duration timeout,
                             const std::function<int()>& work);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_DOCTOR_APART_H_
