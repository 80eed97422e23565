#ifndef MUSTER_LAUNCHER_DOCTOR_APART_H_
#define MUSTER_LAUNCHER_DOCTOR_APART_H_

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "base/time.h"

namespace muster::launcher {

// Runs `work` in a child process and returns its exit code as soon as the child
// has sent it. The child itself may be unable to exit, because a driver or a
// file system hangs. Call while this process has one thread.
//
// DeadlineExceeded: no exit code within `timeout`; the child was killed.
// Internal: the child died, for example by a signal in a driver's library; the
// message names the signal.
absl::StatusOr<int> RunApart(Duration timeout,
                             const std::function<int()>& work);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_DOCTOR_APART_H_
