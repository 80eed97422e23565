// A GPU pair process for tests, with fakes of NVIDIA's libraries. If the
// environment variable STAGED_NO_NCCL is set, the library NCCL is missing.

#include <cstdlib>

#include "launcher/gpu_pair/gpu_pair_process.h"

int main(int argc, char** argv) {
  constexpr char kFake[] = "trainer_sdk/nccl/libfake_nccl.so";
  if (!muster::launcher::IsGpuPairProcess(argc, argv)) return 2;
  muster::launcher::RunGpuPairProcess(
      {.cuda_library = kFake,
       .nccl_library = std::getenv("STAGED_NO_NCCL") != nullptr
                           ? "libno-such-nccl.so.2"
                           : kFake});
}
