#ifndef MUSTER_TRAINER_SDK_CUDA_EMULATION_EMULATED_CUDA_H_
#define MUSTER_TRAINER_SDK_CUDA_EMULATION_EMULATED_CUDA_H_

#include "trainer_sdk/cuda/cuda_plugin.h"

namespace muster {

// The functions of an emulated GPU, for tests of CudaDevice. Its memory is host
// memory, all work is synchronous, and its kernels run on the CPU
// (cuda_emulation.h). New memory is filled with NaNs.
const CudaPlugin& EmulatedCuda();

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_CUDA_EMULATION_EMULATED_CUDA_H_
