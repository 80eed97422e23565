#ifndef MUSTER_MODELS_GPT_CUDA_CUDA_WEIGHT_GATHER_H_
#define MUSTER_MODELS_GPT_CUDA_CUDA_WEIGHT_GATHER_H_

#include <vector>

#include "absl/status/status.h"
#include "models/cuda/device.h"
#include "models/gpt_cuda/contiguous_buckets.h"
#include "trainer_sdk/process_group/process_group.h"

namespace muster::cuda {

// Gathers every rank's share of each bucket of `values` (ShareOf) in device
// memory; later work on stream() sees all of it. Uses the side stream, after
// the current work of stream(). Returns the group's errors as far as they are
// known; if the group breaks later, the values are undefined and
// CudaGradientAverage::Confirm reports it. T: float, Bfloat16.
template <typename T>
absl::Status GatherShares(Device& device, ProcessGroup& group,
                          const std::vector<ContiguousBucket>& buckets,
                          T* values);

}  // namespace muster::cuda

#endif  // MUSTER_MODELS_GPT_CUDA_CUDA_WEIGHT_GATHER_H_
