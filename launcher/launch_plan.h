#ifndef MUSTER_LAUNCHER_LAUNCH_PLAN_H_
#define MUSTER_LAUNCHER_LAUNCH_PLAN_H_

#include "absl/status/statusor.h"
#include "agent/agent_options.h"
#include "launcher/coordinator_choice.h"
#include "launcher/options/machine.h"
#include "launcher/options/run_options.h"
#include "launcher/voice.h"

namespace muster::launcher {

// The parts that this `launch` runs: one agent and, on the hosting node, the
// coordinator.
struct LaunchPlan {
  agent::AgentOptions agent;
  CoordinatorChoice coordinator;
};

// Plans the parts that this `launch` runs. `options`: the values of the flags.
// `meeting`, `facts` and `resolved`: the facts about the job's nodes and this
// machine on which the plan depends. Pure. Errors: those of ChooseCoordinator
// and PlanAgent, one line that begins with the flag.
absl::StatusOr<LaunchPlan> PlanLaunch(const RunOptions& options,
                                      const Meeting& meeting,
                                      const MachineFacts& facts,
                                      const ResolvedHost& resolved);

// Resolves the first endpoint's host and calls PlanLaunch. If there is no other
// endpoint, repeats a failed look-up, because names often appear late while a
// cluster starts. Unavailable, one line: the name does not resolve within
// connect_timeout. No name is resolved for a lone node, or if the endpoints
// belong to daemons: the agent later tries each endpoint in turn.
//
// A signal that stops this node ends the wait for the name. The result is then
// Cancelled, one line. `exit_code` then is the exit code for this process: a
// preempted pod must not count as failed. These signals are blocked in this
// thread before the first look-up, and stay blocked.
absl::StatusOr<LaunchPlan> PlanMeeting(const RunOptions& options,
                                       const Meeting& meeting,
                                       const MachineFacts& facts,
                                       const Voice& voice, int* exit_code);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_LAUNCH_PLAN_H_
