#ifndef MUSTER_LAUNCHER_TOP_SCREEN_H_
#define MUSTER_LAUNCHER_TOP_SCREEN_H_

#include <functional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "launcher/rank_output.h"
#include "rendezvous/protocol/job_status.h"

namespace muster::launcher {

// Shows a job on the terminal of stdin and stdout, and updates it once a second
// until the user presses q. `read`: returns the job's current state. While
// `read` fails, the screen shows the last state and the error. `inquire`: reads
// the output of one rank (RankOutput). It is called when the user switches from
// the table of ranks to the output of one rank.
//
// FailedPrecondition: stdin or stdout is no terminal that ncurses can use;
// nothing was shown. Other errors: those of the first call of `read`.
absl::Status ShowTop(
    const std::function<absl::StatusOr<rendezvous::JobStatus>()>& read,
    RankOutput::Inquire inquire);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_TOP_SCREEN_H_
