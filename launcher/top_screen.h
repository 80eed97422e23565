#ifndef MUSTER_LAUNCHER_TOP_SCREEN_H_
#define MUSTER_LAUNCHER_TOP_SCREEN_H_

#include <functional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rendezvous/protocol/job_status.h"

namespace muster::launcher {

// Shows a job in the terminal of stdin and stdout, once a second anew, until
// the person presses q. `read`: returns the job now. While `read` fails, the
// screen shows the last state and the error.
//
// FailedPrecondition: stdin or stdout is no terminal that ncurses can use;
// nothing was shown. Other errors: those of the first call of `read`.
absl::Status ShowTop(
    const std::function<absl::StatusOr<rendezvous::JobStatus>()>& read);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_TOP_SCREEN_H_
