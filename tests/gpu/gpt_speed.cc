#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/monotonic_clock.h"
#include "models/cuda/open_device.h"
#include "models/gpt_cuda/cuda_gpt_stage.h"
#include "tests/gpu/gpt_124m.h"
#include "tests/gpu/gpt_passes.h"

namespace muster {

using models::cuda::Bfloat16;

absl::Status MeasureGptSteps(int64_t batch, int steps, double peak_tflops) {
  constexpr int kWarmUp = 5;
  const models::GptConfig config;
  auto device = models::cuda::OpenDevice(0);
  if (!device.ok()) return device.status();
  auto gpt = MakeGpt124m(**device, batch, 1);
  if (!gpt.ok()) return gpt.status();
  auto& [weights, optimizer, stage, micro_batch] = *gpt;
  models::cuda::DeviceArrays arrays(**device);
  auto* const gradient = arrays.Add<Bfloat16>(stage->stream_count());
  if (!arrays.status().ok()) return arrays.status();
  std::vector<double> milliseconds;
  double loss = 0;
  for (int step = 1; step <= kWarmUp + steps; ++step) {
    const Instant begin = MonotonicNow();
    weights->ZeroGradients();
    stage->Forward(micro_batch.get(), nullptr);
    stage->Loss(micro_batch.get(), 1);
    stage->Backward(micro_batch.get(), gradient, [](int) {});
    absl::Status status =
        optimizer->Step({.step = step, .learning_rate = 3e-4});
    if (!status.ok()) return status;
    (*device)->Wait();
    const std::chrono::duration<double, std::milli> took =
        MonotonicNow() - begin;
    if (step > kWarmUp) milliseconds.push_back(took.count());
    loss = stage->ReadLoss(*micro_batch);
  }
  if (absl::Status status = (*device)->status(); !status.ok()) return status;
  std::vector<double> sorted = milliseconds;
  std::sort(sorted.begin(), sorted.end());
  const double seconds = sorted[sorted.size() / 2] / 1000;
  const double tokens = static_cast<double>(batch * config.context) / seconds;
  std::printf(
      "%s\n",
      absl::StrCat(R"({"who": "ours", "batch": )", batch,
                   R"(, "tokens_per_second": )", tokens, R"(, "mfu": )",
                   tokens * config.FlopsPerToken() / (peak_tflops * 1e12),
                   R"(, "loss": )", loss, R"(, "milliseconds": [)",
                   absl::StrJoin(milliseconds, ", "), "]}")
          .c_str());
  return absl::OkStatus();
}

}  // namespace muster
