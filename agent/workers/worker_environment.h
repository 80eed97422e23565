#ifndef MUSTER_AGENT_WORKERS_WORKER_ENVIRONMENT_H_
#define MUSTER_AGENT_WORKERS_WORKER_ENVIRONMENT_H_

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agent/binding/binding_plan.h"
#include "agent/workers/framework_env.h"
#include "rendezvous/protocol/directive.h"

namespace muster::agent {

// What a node's workers have in common, settled before the first round.
struct EnvironmentPlan {
  std::string run_id;
  std::string node_id;
  std::string role = "default";
  int local_world_size = 1;
  int max_restarts = 0;
  std::string signals_to_handle;  // as given: "SIGTERM,SIGINT"
  // One entry a worker: what CUDA_VISIBLE_DEVICES shall be for it. Empty: the
  // agent's own value is passed through.
  std::vector<std::string> gpu_of_local_rank;
  bool sets_hip = false;            // HIP_VISIBLE_DEVICES as well
  bool virtual_local_rank = false;  // --virtual-local-rank
  rendezvous::StoreHost store_host = rendezvous::StoreHost::kAgent;
  int cores = 1;                        // cores that this node's workers share
  std::vector<WorkerBinding> bindings;  // one a worker; empty: not bound
  std::string coordinator_endpoint;     // MUSTER_COORDINATOR
  std::vector<FrameworkEnv> framework_envs;
  // What a configuration file gives; goes before what is inherited, and after
  // what says the worker's place.
  std::map<std::string, std::string> more;
};

// Where one worker of one round finds things; each may be empty.
struct WorkerPaths {
  std::string error_file;
  std::string
      progress_socket;       // a Unix datagram socket, see progress_message.h
  std::string node_address;  // this node's, as its peers dial it
  std::string preemption_file;  // see preemption_file.h
  std::string timer_file;       // a named pipe, see worker_timers.h
};

// The variables that worker `local_rank` of `place` gets on top of
// `inherited`: torchrun's, name for name (docs/CLI.md lists them), and
// MUSTER_RUN_ID, MUSTER_NODE_ID, MUSTER_ROUND, MUSTER_COORDINATOR,
// MUSTER_NODE_ADDRESS, MUSTER_PROGRESS_SOCKET, MUSTER_PREEMPTION_FILE; of a
// bound worker MUSTER_CPU_SET and, where there is one, MUSTER_NEAR_NIC; those
// of the framework_envs that can be told from its place; and what is left of
// `more`. Pure. `gpu_of_local_rank` is empty or as long as `local_world_size`.
std::vector<std::pair<std::string, std::string>> WorkerEnvironment(
    const EnvironmentPlan& plan, const rendezvous::Place& place, int local_rank,
    const WorkerPaths& paths,
    const std::map<std::string, std::string>& inherited);

// The agent's own variables that are none of its workers' business: the job's
// secret, the id of an outer job's world, an outer worker's cores, and the
// channels by which an init system speaks to the agent, which a worker would
// take for its own. For WorkerSpec::unset.
std::vector<std::string> WithheldFromWorkers();

}  // namespace muster::agent

#endif  // MUSTER_AGENT_WORKERS_WORKER_ENVIRONMENT_H_
