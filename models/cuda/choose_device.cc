#include "models/cuda/choose_device.h"

#include "absl/strings/str_cat.h"

namespace muster::models::cuda {

absl::StatusOr<int> ChooseDevice(int visible, int local_rank,
                                 int local_world_size) {
  // Without a GPU, opening device 0 gives the error.
  if (visible <= 1) return 0;
  if (visible >= local_world_size) return local_rank;
  return absl::FailedPreconditionError(
      absl::StrCat("there are ", visible, " GPUs for the ", local_world_size,
                   " workers of this host: start as many workers as GPUs "
                   "(--nproc-per-node gpu), or show each worker its own by "
                   "CUDA_VISIBLE_DEVICES"));
}

}  // namespace muster::models::cuda
