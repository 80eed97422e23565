#ifndef MUSTER_LAUNCHER_OPTIONS_AGENT_PLAN_H_
#define MUSTER_LAUNCHER_OPTIONS_AGENT_PLAN_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "agent/agent_options.h"
#include "launcher/options/machine.h"
#include "launcher/options/run_options.h"
#include "rendezvous/endpoint/endpoint.h"
#include "rendezvous/protocol/report.h"

namespace muster::launcher {

// The place where the nodes find their coordinator (the rendezvous endpoint),
// and the settings that depend on it. Decided before everything else in a run.
struct Meeting {
  // Whether this node is the job's only node and hosts the coordinator. If so,
  // no name is resolved, and any port may be used.
  bool alone = false;
  // The addresses at which nodes look for the coordinator, at least one. Port 0
  // stands for the free port that the coordinator will bind. If there are
  // several addresses, the coordinator is at one of them. The addresses belong
  // to rendezvousd daemons (coordinators that run as separate programs) or to
  // nodes that may take over as coordinator (see ChooseCoordinator).
  std::vector<rendezvous::Endpoint> endpoints;
  std::string run_id;
  // Port of the workers' store if this node serves it; 0: any free port.
  int store_port = 0;
  // Name of the flag that gives `store_port`, for messages.
  std::string store_port_flag = "--store-port";
};

// Plans this node's agent, whether or not this process hosts the coordinator.
// InvalidArgument, one line: options that contradict each other or this
// machine. Pure.
absl::StatusOr<agent::AgentOptions> PlanAgent(const RunOptions& options,
                                              const MachineFacts& facts,
                                              const Meeting& meeting);

// Returns a new tag for a run. The tag becomes Place::run_tag if this machine
// hosts the coordinator.
std::string NewRunTag(const MachineFacts& facts);

// Returns the identity of this node. The node id is the first of these that
// exists:
// - the id in --node-id;
// - "rank-N", from --node-rank;
// - "index-N", from the node's number in Kubernetes (JOB_COMPLETION_INDEX) or
//   Slurm (SLURM_PROCID);
// - the host name with the incarnation.
//
// Slurm's number is used only in a step that has a task for each node, because
// two agents in one task would have the same number. Pure.
rendezvous::NodeIdentity PlanNodeIdentity(const RunOptions& options,
                                          const MachineFacts& facts);

// JobSpec::command: the requested command as words of a shell, without line
// breaks and other control characters. Equal texts mean equal commands. If a
// text is longer than kMaxCommandBytes, it is cut, and the length and a hash of
// the whole text are appended. The number of workers appears as written in
// --nproc-per-node ("gpu"), so that nodes with different hardware have equal
// texts. Pure.
std::string JobCommand(const RunOptions& options);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_OPTIONS_AGENT_PLAN_H_
