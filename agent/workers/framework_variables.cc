#include "agent/workers/framework_variables.h"

#include <algorithm>

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

}  // namespace muster::agent
