#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "models/cuda/open_device.h"
#include "models/gpt/gpt_stage.h"
#include "models/gpt_cuda/cuda_gpt_stage.h"
#include "models/gpt_cuda/testing/read_gradients.h"
#include "tests/gpu/gpt_passes.h"

namespace muster {
namespace {

using models::cuda::Bfloat16;
using models::cuda::CudaGptStage;
using models::cuda::CudaGptWeights;

struct GptCase {
  models::GptConfig config;
  int64_t batch = 1;
  int64_t time = 1;
};

// Two models: one with odd sizes, and one whose matrices are large enough for
// tensor cores.
const GptCase kCases[] = {
    {.config =
         {.vocabulary = 19, .context = 8, .layers = 2, .heads = 3, .width = 15},
     .batch = 2,
     .time = 7},
    {.config = {.vocabulary = 501,
                .context = 130,
                .layers = 3,
                .heads = 4,
                .width = 256,
                .biases = models::GptConfig::Biases::kNone},
     .batch = 3,
     .time = 129}};

struct GptPass {
  double loss = 0;
  std::vector<std::vector<float>> gradients;
};

std::vector<int32_t> Tokens(const GptCase& which, int64_t factor) {
  std::vector<int32_t> tokens;
  for (int64_t i = 0; i < which.batch * which.time; ++i) {
    tokens.push_back(
        static_cast<int32_t>(i * factor % which.config.vocabulary));
  }
  return tokens;
}

GptPass OnTheCpu(const GptCase& which, models::GptWeights& weights) {
  const models::GptStage stage(weights, which.batch, which.time);
  models::GptMicroBatch micro_batch;
  micro_batch.tokens = Tokens(which, 7);
  micro_batch.targets = Tokens(which, 5);
  std::vector<float> stream;
  weights.ZeroGradients();
  GptPass pass;
  stage.Forward(&micro_batch, &stream);
  pass.loss = stage.Loss(&micro_batch, stream, 1);
  stage.Backward(&micro_batch, &stream, [](int) {});
  for (size_t i = 0; i < weights.tensors().size(); ++i) {
    const float* const at = weights.gradient(static_cast<int>(i));
    pass.gradients.emplace_back(at, at + weights.tensors()[i].count());
  }
  return pass;
}

template <typename T>
absl::StatusOr<GptPass> OnTheGpu(
    const GptCase& which, const models::GptWeights& from,
    typename CudaGptStage<T>::Checkpointing checkpointing) {
  auto device = models::cuda::OpenDevice(0);
  if (!device.ok()) return device.status();
  auto weights = CudaGptWeights<T>::Create(**device, from);
  if (!weights.ok()) return weights.status();
  auto stage = CudaGptStage<T>::Create(**device, **weights, which.batch,
                                       which.time, checkpointing);
  if (!stage.ok()) return stage.status();
  auto micro_batch = (*stage)->NewMicroBatch();
  if (!micro_batch.ok()) return micro_batch.status();
  (*micro_batch)->tokens = Tokens(which, 7);
  (*micro_batch)->targets = Tokens(which, 5);
  models::cuda::DeviceArrays arrays(**device);
  T* const gradient = arrays.Add<T>((*stage)->stream_count());
  if (!arrays.status().ok()) return arrays.status();
  (*stage)->Forward(micro_batch->get(), nullptr);
  (*stage)->Loss(micro_batch->get(), 1);
  (*stage)->Backward(micro_batch->get(), gradient, [](int) {});
  GptPass pass;
  pass.loss = (*stage)->ReadLoss(**micro_batch);
  pass.gradients = models::cuda::ReadGradients(**device, **weights);
  if (absl::Status status = (*device)->status(); !status.ok()) return status;
  return pass;
}

// Returns the Euclidean norm of a - b, relative to that of b.
double Distance(const std::vector<float>& a, const std::vector<float>& b) {
  double distance = 0;
  double size = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    distance += (double{a[i]} - b[i]) * (double{a[i]} - b[i]);
    size += double{b[i]} * b[i];
  }
  return std::sqrt(distance / size);
}

template <typename T>
absl::Status Check(const GptCase& which, const char* type, double limit) {
  models::GptWeights weights(which.config, {0, which.config.layers});
  weights.Initialize(3);
  const GptPass expected = OnTheCpu(which, weights);
  using Checkpointing = typename CudaGptStage<T>::Checkpointing;
  const auto found = OnTheGpu<T>(which, weights, Checkpointing::kNone);
  if (!found.ok()) return found.status();
  double worst = 0;
  for (size_t i = 0; i < expected.gradients.size(); ++i) {
    const double distance =
        Distance(found->gradients[i], expected.gradients[i]);
    worst = std::max(worst, distance);
    // The condition is not written as `distance > limit`, because a distance of
    // NaN must also fail the check.
    if (!(distance <= limit)) {
      return absl::InternalError(absl::StrCat(
          "the gradient of ", weights.tensors()[i].name, " in ", type, " is ",
          distance, " of its size from the CPU's; at most ", limit));
    }
  }
  if (!(std::fabs(found->loss - expected.loss) <= limit)) {
    return absl::InternalError(absl::StrCat("the loss in ", type, " is ",
                                            found->loss, ", the CPU's ",
                                            expected.loss));
  }
  for (const auto kept : {Checkpointing::kNone, Checkpointing::kBlocks}) {
    const auto again = OnTheGpu<T>(which, weights, kept);
    if (!again.ok()) return again.status();
    if (again->loss != found->loss || again->gradients != found->gradients) {
      return absl::InternalError(absl::StrCat(
          "a second pass in ", type,
          kept == Checkpointing::kNone ? "" : " with checkpointing",
          " is not the same to the last bit"));
    }
  }
  std::printf(
      "%s, width %lld: loss %.6f (CPU %.6f); the gradient that differs "
      "most does by %.2g of its size\n",
      type, static_cast<long long>(which.config.width), found->loss,
      expected.loss, worst);
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckGptGradients() {
  for (const GptCase& which : kCases) {
    absl::Status status = Check<float>(which, "float32", 1e-4);
    if (status.ok()) status = Check<Bfloat16>(which, "bfloat16", 5e-2);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace muster
