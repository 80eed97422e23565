#ifndef MUSTER_LAUNCHER_OPTIONS_AGENT_PLAN_H_
#define MUSTER_LAUNCHER_OPTIONS_AGENT_PLAN_H_

#include <string>

#include "absl/status/statusor.h"
#include "agent/agent_options.h"
#include "launcher/options/machine.h"
#include "launcher/options/run_options.h"
#include "rendezvous/endpoint/endpoint.h"
#include "rendezvous/protocol/report.h"

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

// Who this node is. Its id is --node-id, else "rank-N" of --node-rank, else
// "index-N" of the number that Kubernetes (JOB_COMPLETION_INDEX) or Slurm
// (SLURM_PROCID) gave it, else made of host name and incarnation. Slurm's
// number is taken only in a step that has a task for each node, since two
// agents in one task would have the same. Pure.
rendezvous::NodeIdentity PlanNodeIdentity(const RunOptions& options,
                                          const MachineFacts& facts);

// JobSpec::command: what was asked for, as words of a shell, without line
// breaks or other control characters. Equal texts mean equal commands: of one
// that is longer than kMaxCommandBytes the beginning, the length and a hash of
// the whole are given. The number of workers is the text of --nproc-per-node
// ("gpu"), so that nodes with different hardware agree. Pure.
std::string JobCommand(const RunOptions& options);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_OPTIONS_AGENT_PLAN_H_
