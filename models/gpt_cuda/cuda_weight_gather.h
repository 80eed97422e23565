#ifndef MUSTER_MODELS_GPT_CUDA_CUDA_WEIGHT_GATHER_H_
#define MUSTER_MODELS_GPT_CUDA_CUDA_WEIGHT_GATHER_H_

#include <vector>

#include "absl/status/status.h"
#include "models/cuda/device.h"
#include "models/gpt_cuda/contiguous_buckets.h"
#include "trainer_sdk/process_group/process_group.h"

namespace muster::cuda {

// Each rank has its share of every bucket of `values` (ShareOf), in device
// memory; what follows on stream() sees all of it. Goes on the side stream,
// behind what is on stream(). The group's errors, as far as they are known by
// now: one that breaks later leaves anything there, which
// CudaGradientAverage::Confirm tells. T: float, Bfloat16.
template <typename T>
absl::Status GatherShares(Device& device, ProcessGroup& group,
                          const std::vector<ContiguousBucket>& buckets,
                          T* values);

}  // namespace muster::cuda

#endif  // MUSTER_MODELS_GPT_CUDA_CUDA_WEIGHT_GATHER_H_
