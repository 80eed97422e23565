#ifndef MUSTER_AGENT_NCCL_ID_NCCL_ID_PROCESS_H_
#define MUSTER_AGENT_NCCL_ID_NCCL_ID_PROCESS_H_

#include <string>

#include "nccl/nccl_library.h"

namespace muster::agent {

// A process that hosts the root of one NCCL id: whoever calls ncclGetUniqueId
// must live until the last rank has joined, and an agent must not have NCCL and
// its threads inside itself. The agent starts it (see nccl_id_holder.h) with
// its own program and kNcclIdArgument.

inline constexpr char kNcclIdArgument[] = "--nccl-id-process";

// Whether main was called for this; before anything else.
bool IsNcclIdProcess(int argc, char** argv);

struct NcclIdProcessOptions {
  std::string nvml_library = "libnvidia-ml.so.1";
  std::string nccl_library = nccl::NcclLibrary::DefaultName();
};

// The process's whole life; what it shall exit with. Writes one line to stdout:
// "id " and 256 hexadecimal digits, or "none " and the reason (the reason is
// empty where nobody need know it: this node has no GPU that may be used). Then
// keeps the root until stdin ends. Whatever NCCL itself prints goes to stderr.
int RunNcclIdProcess(const NcclIdProcessOptions& options = {});

}  // namespace muster::agent

#endif  // MUSTER_AGENT_NCCL_ID_NCCL_ID_PROCESS_H_
