#ifndef MUSTER_LAUNCHER_OPTIONS_AGENT_PLAN_H_
#define MUSTER_LAUNCHER_OPTIONS_AGENT_PLAN_H_

#include <string>

#include "absl/status/statusor.h"
#include "agent/agent_options.h"
#include "launcher/options/machine_facts.h"
#include "launcher/options/run_options.h"

namespace muster::launcher {

// What the agent of this node shall do, wherever its coordinator is; `endpoint`
// is for messages. InvalidArgument, one line: what does not fit together or
// does not fit this machine. Pure.
absl::StatusOr<agent::AgentOptions> PlanAgent(const RunOptions& options,
                                              const MachineFacts& facts,
                                              const std::string& endpoint);

// The tag of a run that begins here: Place::run_tag where this machine hosts
// the coordinator.
std::string NewRunTag(const MachineFacts& facts);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_OPTIONS_AGENT_PLAN_H_
