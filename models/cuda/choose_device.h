#ifndef MUSTER_MODELS_CUDA_CHOOSE_DEVICE_H_
#define MUSTER_MODELS_CUDA_CHOOSE_DEVICE_H_

#include "absl/status/statusor.h"

namespace muster::models::cuda {

// The index of the GPU for a worker, of the `visible` ones: its local rank, as
// in PyTorch's scripts. If only one is visible, that one: either each worker
// sees its own, or several share it. FailedPrecondition: several GPUs are
// visible, but fewer than there are workers on this host. Pure.
absl::StatusOr<int> ChooseDevice(int visible, int local_rank,
                                 int local_world_size);

}  // namespace muster::models::cuda

#endif  // MUSTER_MODELS_CUDA_CHOOSE_DEVICE_H_
