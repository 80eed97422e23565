#ifndef MUSTER_LAUNCHER_MEETING_H_
#define MUSTER_LAUNCHER_MEETING_H_

#include "absl/status/statusor.h"
#include "launcher/launch_plan.h"
#include "launcher/options/machine.h"
#include "launcher/options/run_options.h"
#include "launcher/voice.h"

namespace muster::launcher {

// Resolves the endpoint's host and calls PlanLaunch. With several endpoints no
// name is resolved here, because the link to the coordinator tries each of
// them. A name that does not resolve is tried again, since names often appear
// late while a cluster starts. After the options' connect_timeout the result is
// Unavailable, one line.
//
// A signal that ends this node's part in the job ends the wait. The result is
// then Cancelled, one line, and `exit_code` is the exit code for this process
// (a preempted pod must not count as failed). From the first attempt on, the
// signals of `options` stay blocked in this thread, as PrepareSignals leaves
// them.
absl::StatusOr<LaunchPlan> PlanMeeting(const RunOptions& options,
                                       const Meeting& meeting,
                                       const MachineFacts& facts,
                                       const Voice& voice, int* exit_code);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_MEETING_H_
