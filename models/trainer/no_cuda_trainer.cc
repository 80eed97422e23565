#include "models/trainer/new_cuda_trainer.h"

// The version of NewCudaTrainer for builds without a CUDA toolkit.

namespace muster::models {

absl::StatusOr<std::unique_ptr<GptTrainer>> NewCudaTrainer(
    const GptTrainingOptions&, std::shared_ptr<const Tokens>, Session&,
    ProcessGroup&) {
  return absl::UnimplementedError(
      "--device cuda: this program was built without a CUDA toolkit: build it "
      "where nvcc is (/usr/local/cuda/bin, or CUDA_HOME names its folder)");
}

}  // namespace muster::models
