#ifndef MUSTER_TESTS_GPU_GPT_124M_H_
#define MUSTER_TESTS_GPU_GPT_124M_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "models/cuda/device.h"
#include "models/gpt_cuda/cuda_gpt_stage.h"
#include "models/gpt_cuda/cuda_gpt_weights.h"
#include "trainer_sdk/optim/replicated_optimizer.h"

namespace muster {

// The model GPT-2 124M in bfloat16 on a GPU. Its batch has `batch` sequences of
// random tokens, each as long as the model's context. `seed` determines the
// tokens. The device must outlive this object.
struct Gpt124m {
  std::unique_ptr<models::cuda::CudaGptWeights<models::cuda::Bfloat16>> weights;
  // AdamW with a weight decay of 0.1
  std::unique_ptr<ReplicatedOptimizer> optimizer;
  std::unique_ptr<models::cuda::CudaGptStage<models::cuda::Bfloat16>> stage;
  std::unique_ptr<models::cuda::CudaGptMicroBatch<models::cuda::Bfloat16>>
      micro_batch;
};

// Returns ResourceExhausted if the GPU does not have enough memory.
absl::StatusOr<Gpt124m> MakeGpt124m(models::cuda::Device& device, int64_t batch,
                                    unsigned seed);

}  // namespace muster

#endif  // MUSTER_TESTS_GPU_GPT_124M_H_
