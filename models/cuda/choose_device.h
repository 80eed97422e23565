#ifndef MUSTER_MODELS_CUDA_CHOOSE_DEVICE_H_
#define MUSTER_MODELS_CUDA_CHOOSE_DEVICE_H_

#include "absl/status/statusor.h"

namespace muster::cuda {

// Which of the `visible` GPUs a worker computes on: that of its local rank, as
// PyTorch's scripts do it; the only one, where a worker is shown its own, or
// several share one. FailedPrecondition: there are several, and fewer than
// workers on this host. Pure.
absl::StatusOr<int> ChooseDevice(int visible, int local_rank,
                                 int local_world_size);

}  // namespace muster::cuda

#endif  // MUSTER_MODELS_CUDA_CHOOSE_DEVICE_H_
