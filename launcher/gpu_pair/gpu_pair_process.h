#ifndef MUSTER_LAUNCHER_GPU_PAIR_GPU_PAIR_PROCESS_H_
#define MUSTER_LAUNCHER_GPU_PAIR_GPU_PAIR_PROCESS_H_

#include <string>

#include "nccl/nccl_library.h"

namespace muster::launcher {

// Whether the arguments of main ask for a GPU pair process: the child program
// of an agent that measures this node's GPUs together with those of another
// node, for the check by pairs (agent/pair_check/gpu_pair.h has the lines that
// the two exchange). Call it before main does anything else.
bool IsGpuPairProcess(int argc, char** argv);

struct GpuPairProcessOptions {
  std::string cuda_library = "libcuda.so.1";
  std::string nccl_library = nccl::NcclLibrary::DefaultName();
};

// The main function of the GPU pair process. Does not return: the process exits
// with code 0 after its last line, and with 1 if the agent has ended.
[[noreturn]] void RunGpuPairProcess(const GpuPairProcessOptions& options = {});

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_GPU_PAIR_GPU_PAIR_PROCESS_H_
