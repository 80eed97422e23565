#include "agent/workers/agents_variables.h"

#include <algorithm>
#include <array>

namespace muster::agent {
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
};

}  // namespace

bool IsSetByAgent(const std::string& name) {
  return std::find(kAgentsVariables.begin(), kAgentsVariables.end(), name) !=
         kAgentsVariables.end();
}

}  // namespace muster::agent
