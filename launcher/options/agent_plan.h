#ifndef MUSTER_LAUNCHER_OPTIONS_AGENT_PLAN_H_
#define MUSTER_LAUNCHER_OPTIONS_AGENT_PLAN_H_

#include <string>

#include "absl/status/statusor.h"
#include "agent/agent_options.h"
#include "launcher/options/machine_facts.h"
#include "launcher/options/run_options.h"
#include "rendezvous/endpoint/endpoint.h"

namespace muster::launcher {

// Where this node meets the others, and the settings that depend on it.
// Decided once, before everything else of a run.
struct Meeting {
  // This node is the job's only one and hosts the coordinator: no name is
  // resolved, and any port does.
  bool alone = false;
  // The coordinator's address, as the other nodes dial it. Port 0: the port
  // that listening gives.
  rendezvous::Endpoint endpoint;
  std::string run_id;
  // The port of the workers' store where this node serves it; 0: a free one.
  int store_port = 0;
  std::string store_port_flag = "--store-port";  // for messages
};

// The options of this node's agent, wherever its coordinator is.
// InvalidArgument, one line: options that contradict each other or this
// machine. Pure.
absl::StatusOr<agent::AgentOptions> PlanAgent(const RunOptions& options,
                                              const MachineFacts& facts,
                                              const Meeting& meeting);

// The tag of a run that begins here: Place::run_tag where this machine hosts
// the coordinator.
std::string NewRunTag(const MachineFacts& facts);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_OPTIONS_AGENT_PLAN_H_
