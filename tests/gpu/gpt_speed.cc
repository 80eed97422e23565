#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/monotonic_clock.h"
#include "tests/gpu/gpt_passes.h"
#include "trainer_sdk/cuda/cuda_device.h"
#include "trainer_sdk/gpt_cuda/cuda_gpt_stage.h"

namespace muster {

using cuda::Bfloat16;
using cuda::CudaDevice;
using cuda::CudaGptStage;
using cuda::CudaGptWeights;

absl::Status MeasureGptSteps(int64_t batch, int steps, double peak_tflops) {
  constexpr int kWarmUp = 5;
  const GptConfig config;
  auto device = CudaDevice::Open(0);
  if (!device.ok()) return device.status();
  std::unique_ptr<CudaGptWeights<Bfloat16>> weights;
  {
    GptWeights host(config, {0, config.layers});
    host.Initialize(1);
    auto made = CudaGptWeights<Bfloat16>::Create(**device, host);
    if (!made.ok()) return made.status();
    weights = *std::move(made);
  }
  auto stage =
      CudaGptStage<Bfloat16>::Create(**device, *weights, batch, config.context);
  if (!stage.ok()) return stage.status();
  auto micro_batch = (*stage)->NewMicroBatch();
  if (!micro_batch.ok()) return micro_batch.status();
  std::mt19937 engine(1);
  std::uniform_int_distribution<int32_t> any(
      0, static_cast<int32_t>(config.vocabulary) - 1);
  for (int64_t i = 0; i < batch * config.context; ++i) {
    (*micro_batch)->tokens.push_back(any(engine));
    (*micro_batch)->targets.push_back(any(engine));
  }
  cuda::DeviceArrays arrays(**device);
  Bfloat16* const gradient = arrays.Add<Bfloat16>((*stage)->stream_count());
  if (!arrays.status().ok()) return arrays.status();
  std::vector<double> milliseconds;
  double loss = 0;
  for (int step = 1; step <= kWarmUp + steps; ++step) {
    const Instant begin = MonotonicNow();
    weights->ZeroGradients();
    (*stage)->Forward(micro_batch->get(), nullptr);
    (*stage)->Loss(micro_batch->get(), 1);
    (*stage)->Backward(micro_batch->get(), gradient, [](int) {});
    weights->AdamWStep({.weight_decay = 0.1},
                       {.step = step, .learning_rate = 3e-4});
    (*device)->Wait();
    const std::chrono::duration<double, std::milli> took =
        MonotonicNow() - begin;
    if (step > kWarmUp) milliseconds.push_back(took.count());
    loss = (*stage)->ReadLoss(**micro_batch);
  }
  if (absl::Status status = (*device)->status(); !status.ok()) return status;
  std::vector<double> sorted = milliseconds;
  std::sort(sorted.begin(), sorted.end());
  const double seconds = sorted[sorted.size() / 2] / 1000;
  const double tokens = static_cast<double>(batch * config.context) / seconds;
  std::printf(
      "%s\n",
      absl::StrCat("{\"who\": \"ours\", \"batch\": ", batch,
                   ", \"tokens_per_second\": ", tokens, ", \"mfu\": ",
                   tokens * config.FlopsPerToken() / (peak_tflops * 1e12),
                   ", \"loss\": ", loss, ", \"milliseconds\": [",
                   absl::StrJoin(milliseconds, ", "), "]}")
          .c_str());
  return absl::OkStatus();
}

}  // namespace muster
