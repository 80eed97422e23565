#ifndef MUSTER_LAUNCHER_MEETING_H_
#define MUSTER_LAUNCHER_MEETING_H_

#include "absl/status/statusor.h"
#include "launcher/launch_plan.h"
#include "launcher/options/machine.h"
#include "launcher/options/run_options.h"
#include "launcher/voice.h"

namespace muster::launcher {

// Resolves the endpoint's host and calls PlanLaunch. If several endpoints are
// given, resolves no name, because the agent later tries each endpoint in turn.
// Repeats a failed look-up, because names often appear late while a cluster
// starts. Unavailable, one line: the name does not resolve within
// connect_timeout.
//
// A signal that stops this node ends the wait for the name. The result is then
// Cancelled, one line, and `exit_code` is the exit code for this process (a
// preempted pod must not count as failed). The first attempt blocks the signals
// of `options` in this thread, as PrepareSignals does, and they stay blocked.
absl::StatusOr<LaunchPlan> PlanMeeting(const RunOptions& options,
                                       const Meeting& meeting,
                                       const MachineFacts& facts,
                                       const Voice& voice, int* exit_code);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_MEETING_H_
