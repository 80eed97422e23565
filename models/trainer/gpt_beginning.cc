#include "models/trainer/gpt_beginning.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "models/gpt/hugging_face.h"
#include "models/trainer/text/gpt_batches.h"
#include "models/trainer/training_options.h"
#include "trainer_sdk/ddp/broadcast_parameters.h"

namespace muster::models {
namespace {

absl::Status CheckForGpu(const GptTrainingOptions& options) {
  const char* not_there = nullptr;
  if (options.precision == DType::kFloat16) {
    not_there = "--precision fp16 (bf16 needs no loss scale)";
  } else if (options.order != GptTrainingOptions::GradientOrder::kByRank) {
    not_there = "--pairwise";
  }
  if (not_there == nullptr) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("--device cuda has no ", not_there));
}

}  // namespace

absl::Status CheckTraining(const GptTrainingOptions& options,
                           const std::shared_ptr<const Tokens>& tokens,
                           ProcessGroup& world) {
  if (absl::Status wrong = options.model.Check(); !wrong.ok()) return wrong;
  if (options.micro_batches % world.size() != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        options.micro_batches, " micro-batches a step cannot be dealt out to ",
        world.size(), " ranks alike"));
  }
  if (options.device == GptTrainingOptions::Device::kCuda) {
    if (absl::Status wrong = CheckForGpu(options); !wrong.ok()) return wrong;
  }
  const bool in_pairs =
      options.order == GptTrainingOptions::GradientOrder::kPairwise;
  if (in_pairs && options.precision != DType::kFloat32) {
    return absl::InvalidArgumentError(
        absl::StrCat("--pairwise adds gradients in fp32 only, not in ",
                     Name(options.precision)));
  }
  if (in_pairs &&
      !std::has_single_bit(static_cast<uint64_t>(options.micro_batches))) {
    return absl::InvalidArgumentError(
        absl::StrCat("--pairwise needs a power of two as --micro-batches, not ",
                     options.micro_batches));
  }
  if (absl::Status wrong =
          GptBatches(tokens, options.seed, options.batch, options.model.context)
              .Check();
      !wrong.ok()) {
    return wrong;
  }
  return CheckSameHyperparameters(world,
                                  absl::StrCat(DescribeHyperparameters(options),
                                               DescribeJointWork(options)));
}

absl::Status FirstWeights(const GptTrainingOptions& options,
                          ProcessGroup& world, GptWeights* weights) {
  weights->Initialize(options.seed);
  if (!options.initial_weights.empty()) {
    absl::Status status =
        ReadHuggingFaceWeights(options.initial_weights, weights);
    if (!status.ok()) return status;
  }
  std::vector<Tensor> tensors;
  for (int i = 0; i < static_cast<int>(weights->tensors().size()); ++i) {
    tensors.push_back(weights->tensor(i));
  }
  // All ranks get rank 0's weights, because the file of initial weights may
  // differ between hosts.
  return BroadcastParameters(world, tensors);
}

}  // namespace muster::models
