#include "agent/workers/worker_environment.h"

#include <algorithm>
#include <array>
#include <set>

#include "agent/binding/cpu_list.h"
#include "base/channel_key.h"
#include "base/check.h"
#include "base/environment_value.h"

namespace muster::agent {
namespace {

using Variables = std::vector<std::pair<std::string, std::string>>;

void AddMpi(const WorkerPlace& place, Variables& variables) {
  const std::string rank = std::to_string(place.rank);
  const std::string size = std::to_string(place.world_size);
  const std::string local_rank = std::to_string(place.local_rank);
  const std::string local_size = std::to_string(place.local_world_size);
  variables.insert(variables.end(), {{"OMPI_COMM_WORLD_RANK", rank},
                                     {"OMPI_COMM_WORLD_SIZE", size},
                                     {"OMPI_COMM_WORLD_LOCAL_RANK", local_rank},
                                     {"OMPI_COMM_WORLD_LOCAL_SIZE", local_size},
                                     // In Open MPI, the node rank counts the
                                     // processes of all of the user's jobs on
                                     // the node. Muster sets it to the local
                                     // rank, which counts only this job's
                                     // workers.
                                     {"OMPI_COMM_WORLD_NODE_RANK", local_rank},
                                     {"OMPI_UNIVERSE_SIZE", size},
                                     {"PMI_RANK", rank},
                                     {"PMI_SIZE", size},
                                     {"MPI_LOCALRANKID", local_rank},
                                     {"MPI_LOCALNRANKS", local_size}});
}

void AddDeepSpeed(const WorkerPlace& place, Variables& variables) {
  variables.insert(variables.end(),
                   {{"CROSS_RANK", std::to_string(place.node)},
                    {"CROSS_SIZE", std::to_string(place.nodes)},
                    {"LOCAL_SIZE", std::to_string(place.local_world_size)}});
}

void AddAccelerate(Variables& variables) {
  variables.insert(variables.end(),
                   {{"ACCELERATE_MIXED_PRECISION", "no"},
                    {"ACCELERATE_DYNAMO_BACKEND", "NO"},
                    {"ACCELERATE_DYNAMO_MODE", "default"},
                    {"ACCELERATE_DYNAMO_USE_FULLGRAPH", "False"},
                    {"ACCELERATE_DYNAMO_USE_DYNAMIC", "False"},
                    {"ACCELERATE_DYNAMO_USE_REGIONAL_COMPILATION", "False"}});
}

bool Has(const std::vector<FrameworkEnv>& framework_envs,
         FrameworkEnv framework) {
  return std::find(framework_envs.begin(), framework_envs.end(), framework) !=
         framework_envs.end();
}

// Returns the environment that is inherited from the agent, with the variables
// of `plan.more`, which override inherited ones.
std::map<std::string, std::string> Surroundings(
    const EnvironmentPlan& plan,
    const std::map<std::string, std::string>& inherited) {
  std::map<std::string, std::string> all = plan.more;
  all.insert(inherited.begin(), inherited.end());
  return all;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> FrameworkVariables(
    const std::vector<FrameworkEnv>& framework_envs, const WorkerPlace& place) {
  Variables variables;
  if (Has(framework_envs, FrameworkEnv::kMpi)) AddMpi(place, variables);
  if (Has(framework_envs, FrameworkEnv::kDeepSpeed))
    AddDeepSpeed(place, variables);
  if (Has(framework_envs, FrameworkEnv::kAccelerate)) AddAccelerate(variables);
  return variables;
}

std::vector<std::pair<std::string, std::string>> WorkerEnvironment(
    const EnvironmentPlan& plan, const rendezvous::Place& place, int local_rank,
    const WorkerPaths& paths,
    const std::map<std::string, std::string>& agents) {
  MUSTER_CHECK(local_rank >= 0 && local_rank < plan.local_world_size)
      << "local rank " << local_rank << " of " << plan.local_world_size;

  const std::map<std::string, std::string> inherited =
      Surroundings(plan, agents);
  const WorkerBinding* const bound =
      plan.bindings.empty() ? nullptr : &plan.bindings.at(local_rank);
  std::vector<std::pair<std::string, std::string>> variables;
  auto set = [&variables](const char* name, std::string value) {
    variables.emplace_back(name, std::move(value));
  };
  auto set_number = [&set](const char* name, int value) {
    set(name, std::to_string(value));
  };
  // Sets the variable `name` to `path`, which is empty if the worker has no
  // such file. An empty path is set only to replace a variable that the agent
  // has inherited, for instance as a worker of an outer job: the agent's
  // workers must not use the outer worker's file.
  auto set_unless_absent = [&](const char* name, const std::string& path) {
    if (!path.empty() || inherited.count(name) > 0) set(name, path);
  };

  set_number("RANK", place.first_rank + local_rank);
  set_number("LOCAL_RANK", plan.virtual_local_rank ? 0 : local_rank);
  set_number("WORLD_SIZE", place.world_size);
  set_number("LOCAL_WORLD_SIZE", plan.local_world_size);
  set_number("GROUP_RANK", place.group_rank);
  set_number("GROUP_WORLD_SIZE", place.group_world_size);
  set_number("ROLE_RANK", place.role_first_rank + local_rank);
  set_number("ROLE_WORLD_SIZE", place.role_world_size);
  set("ROLE_NAME", plan.role);
  set("MASTER_ADDR", place.master_address);
  set_number("MASTER_PORT", place.master_port);

  set_number("TORCHELASTIC_RESTART_COUNT", place.restart_count);
  set_number("TORCHELASTIC_MAX_RESTARTS", plan.max_restarts);
  set("TORCHELASTIC_RUN_ID", plan.run_id);
  // TORCHELASTIC_USE_AGENT_STORE says which process serves the workers' store
  // at MASTER_PORT. True: an agent; all workers, rank 0 included, are clients.
  // False: rank 0 binds MASTER_PORT and serves the other ranks.
  set("TORCHELASTIC_USE_AGENT_STORE",
      plan.store_host == rendezvous::StoreHost::kAgent ? "True" : "False");
  set("TORCHELASTIC_SIGNALS_TO_HANDLE", plan.signals_to_handle);
  set("TORCH_NCCL_ASYNC_ERROR_HANDLING",
      EnvironmentValue(inherited, "TORCH_NCCL_ASYNC_ERROR_HANDLING")
          .value_or("1"));
  set_unless_absent("TORCHELASTIC_ERROR_FILE", paths.error_file);
  if (!paths.timer_file.empty()) {
    set("TORCHELASTIC_TIMER_FILE", paths.timer_file);
  }
  // OMP_NUM_THREADS is set only if several workers share the node's cores. The
  // only worker of a node may use every core, as in torchrun.
  if (plan.local_world_size > 1 && inherited.count("OMP_NUM_THREADS") == 0) {
    const int share = std::max(1, plan.cores / plan.local_world_size);
    set_number("OMP_NUM_THREADS",
               bound == nullptr ? share : std::min(share, bound->threads));
  }
  if (bound != nullptr) {
    set("MUSTER_CPU_SET", CpuList(bound->cpus));
    if (!bound->near_nic.empty()) set("MUSTER_NEAR_NIC", bound->near_nic);
  }
  if (!plan.gpu_of_local_rank.empty()) {
    MUSTER_CHECK(plan.gpu_of_local_rank.size() ==
                 static_cast<size_t>(plan.local_world_size))
        << plan.gpu_of_local_rank.size() << " GPU entries";
    set("CUDA_VISIBLE_DEVICES", plan.gpu_of_local_rank[local_rank]);
    if (plan.sets_hip) {
      set("HIP_VISIBLE_DEVICES", plan.gpu_of_local_rank[local_rank]);
    }
  }

  if (!place.nccl_id.empty()) set("MUSTER_NCCL_ID", place.nccl_id);
  set("MUSTER_RUN_ID", plan.run_id);
  set("MUSTER_NODE_ID", plan.node_id);
  set_number("MUSTER_ROUND", place.round);
  set("MUSTER_COORDINATOR", plan.coordinator_endpoint);
  set_unless_absent("MUSTER_NODE_ADDRESS", paths.node_address);
  set_unless_absent("MUSTER_PROGRESS_SOCKET", paths.progress_socket);
  set_unless_absent("MUSTER_PREEMPTION_FILE", paths.preemption_file);
  std::set<std::string> told;
  for (const auto& [name, value] : variables) told.insert(name);
  const auto add_new = [&](const std::string& name, const std::string& value) {
    if (told.insert(name).second) variables.emplace_back(name, value);
  };
  for (const auto& [name, value] : plan.more) add_new(name, value);
  for (const auto& [name, value] : FrameworkVariables(
           plan.framework_envs, {.rank = place.first_rank + local_rank,
                                .world_size = place.world_size,
                                .local_rank = local_rank,
                                .local_world_size = plan.local_world_size,
                                .node = place.group_rank,
                                .nodes = place.group_world_size})) {
    add_new(name, value);
  }
  return variables;
}

std::vector<std::string> WithheldFromWorkers() {
  return {kChannelKeyVariable, "MUSTER_TOKEN",    "MUSTER_NCCL_ID",
          "MUSTER_CPU_SET",    "MUSTER_NEAR_NIC", "NOTIFY_SOCKET",
          "WATCHDOG_PID",      "WATCHDOG_USEC",   "LISTEN_FDS",
          "LISTEN_PID",        "LISTEN_FDNAMES"};
}

namespace {

constexpr std::array kAgentsVariables = {
    "RANK",
    "LOCAL_RANK",
    "WORLD_SIZE",
    "LOCAL_WORLD_SIZE",
    "GROUP_RANK",
    "GROUP_WORLD_SIZE",
    "ROLE_RANK",
    "ROLE_WORLD_SIZE",
    "ROLE_NAME",
    "MASTER_ADDR",
    "MASTER_PORT",
    "TORCHELASTIC_RESTART_COUNT",
    "TORCHELASTIC_MAX_RESTARTS",
    "TORCHELASTIC_RUN_ID",
    "TORCHELASTIC_USE_AGENT_STORE",
    "TORCHELASTIC_SIGNALS_TO_HANDLE",
    "TORCHELASTIC_ERROR_FILE",
    "MUSTER_CPU_SET",
    "MUSTER_NEAR_NIC",
    "MUSTER_NCCL_ID",
    "MUSTER_RUN_ID",
    "MUSTER_NODE_ID",
    "MUSTER_ROUND",
    "MUSTER_COORDINATOR",
    "MUSTER_NODE_ADDRESS",
    "MUSTER_PROGRESS_SOCKET",
    "MUSTER_PREEMPTION_FILE",
    kChannelKeyVariable,
};

}  // namespace

bool IsSetByAgent(const std::string& name) {
  return std::find(kAgentsVariables.begin(), kAgentsVariables.end(), name) !=
         kAgentsVariables.end();
}

}  // namespace muster::agent
