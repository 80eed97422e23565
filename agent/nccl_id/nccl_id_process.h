#ifndef MUSTER_AGENT_NCCL_ID_NCCL_ID_PROCESS_H_
#define MUSTER_AGENT_NCCL_ID_NCCL_ID_PROCESS_H_

#include <string>

#include "nccl/nccl_library.h"

namespace muster::agent {

// The argument that makes this program an NCCL id process. The process calls
// ncclGetUniqueId, and then hosts the root of the NCCL id, to which all ranks
// connect. The process must live until the last rank has connected. An agent
// must not load NCCL, because NCCL starts threads. Therefore the agent starts
// its own program file with this argument (see nccl_id_holder.h).

inline constexpr char kNcclIdArgument[] = "--nccl-id-process";

// Whether the arguments of main ask for an NCCL id process. Call it before main
// does anything else.
bool IsNcclIdProcess(int argc, char** argv);

struct NcclIdProcessOptions {
  std::string nvml_library = "libnvidia-ml.so.1";
  std::string nccl_library = nccl::NcclLibrary::DefaultName();
};

// The main function of the NCCL id process. Writes one line to stdout: "id "
// and the NCCL id as 256 hexadecimal digits, or "none " and the reason (empty
// if this node has no usable GPU, which is not an error). After "id", keeps the
// root of the NCCL id alive until stdin ends. Returns 1 if stdout cannot be
// written; otherwise exits with code 0 and does not return. NCCL's own output
// goes to stderr.
int RunNcclIdProcess(const NcclIdProcessOptions& options = {});

}  // namespace muster::agent

#endif  // MUSTER_AGENT_NCCL_ID_NCCL_ID_PROCESS_H_
