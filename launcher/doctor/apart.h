#ifndef MUSTER_LAUNCHER_DOCTOR_APART_H_
#define MUSTER_LAUNCHER_DOCTOR_APART_H_

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "base/time.h"

namespace muster::launcher {

// Runs `work` in a process of its own and returns its exit code as soon as it
// has one, even where that process cannot end: a driver or a file system that
// hangs may hold it for ever. Call while this process has one thread.
//
// DeadlineExceeded: it had none in time, and was told to end. Internal: it died
// of a signal (a driver's library crashed), and of which.
absl::StatusOr<int> RunApart(Duration patience,
                             const std::function<int()>& work);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_DOCTOR_APART_H_
