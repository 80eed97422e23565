#include "tests/gpu/gpt_124m.h"

#include <random>
#include <utility>
#include <vector>

namespace muster {

using models::cuda::Bfloat16;

absl::StatusOr<Gpt124m> MakeGpt124m(models::cuda::Device& device, int64_t batch,
                                    unsigned seed) {
  const models::GptConfig config;
  Gpt124m gpt;
  {
    models::GptWeights host(config, {0, config.layers});
    host.Initialize(1);
    auto made = models::cuda::CudaGptWeights<Bfloat16>::Create(device, host);
    if (!made.ok()) return made.status();
    gpt.weights = *std::move(made);
  }
  const std::vector<Tensor> tensors = gpt.weights->DeviceTensors();
  gpt.optimizer = std::make_unique<ReplicatedOptimizer>(
      AdamWRule({.weight_decay = 0.1}), tensors,
      [tensors](int i) { return tensors[static_cast<size_t>(i)].gradient; },
      device);
  if (!gpt.optimizer->status().ok()) return gpt.optimizer->status();
  auto stage = models::cuda::CudaGptStage<Bfloat16>::Create(
      device, *gpt.weights, batch, config.context);
  if (!stage.ok()) return stage.status();
  gpt.stage = *std::move(stage);
  auto micro_batch = gpt.stage->NewMicroBatch();
  if (!micro_batch.ok()) return micro_batch.status();
  gpt.micro_batch = *std::move(micro_batch);
  std::mt19937 engine(seed);
  std::uniform_int_distribution<int32_t> any(
      0, static_cast<int32_t>(config.vocabulary) - 1);
  for (int64_t i = 0; i < batch * config.context; ++i) {
    gpt.micro_batch->tokens.push_back(any(engine));
    gpt.micro_batch->targets.push_back(any(engine));
  }
  return gpt;
}

}  // namespace muster
