#ifndef MUSTER_LAUNCHER_GPU_PAIR_GPU_PAIR_PROCESS_H_
#define MUSTER_LAUNCHER_GPU_PAIR_GPU_PAIR_PROCESS_H_

#include <string>

#include "nccl/nccl_library.h"

namespace muster::launcher {

// Whether the arguments of main ask for a GPU pair process. An agent starts
// such a process for the check by pairs, to measure this node's GPUs together
// with those of another node. agent/pair_check/gpu_pair.h describes the lines
// that the agent and the process exchange. Must be called before main does
// anything else.
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
