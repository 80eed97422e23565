#include "models/gpt/gpt_stage_gradients.h"

#include <cstddef>
#include <cstdint>
#include <utility>

#include "trainer_sdk/optim/gradient_norm.h"

namespace muster::models {
namespace {

constexpr char kTokenTable[] = "transformer.wte.weight";
// The number of stages that share the table.
constexpr double kShares = 2;

}  // namespace

GptStageGradients::GptStageGradients(GptWeights& weights)
    : weights_(weights), parameters_(weights.tensors().size()) {}

absl::StatusOr<std::unique_ptr<GptStageGradients>> GptStageGradients::Create(
    GptWeights& weights, ProcessGroup& data, ProcessGroup* tied,
    const DdpOptions& options) {
  std::unique_ptr<GptStageGradients> made(new GptStageGradients(weights));
  if (tied != nullptr) made->tied_tensor_ = weights.Find(kTokenTable).index;
  for (int i = 0; i < static_cast<int>(weights.tensors().size()); ++i) {
    std::vector<int>& group =
        (i == made->tied_tensor_ ? made->tied_ : made->own_).tensors;
    made->parameters_[static_cast<size_t>(i)] = static_cast<int>(group.size());
    group.push_back(i);
  }
  absl::Status status = made->MakeReducer(data, options, &made->own_);
  if (status.ok() && !made->tied_.tensors.empty()) {
    status = made->MakeReducer(*tied, options, &made->tied_);
  }
  if (!status.ok()) return status;
  made->Place();
  return made;
}

absl::Status GptStageGradients::MakeReducer(ProcessGroup& group,
                                            DdpOptions options,
                                            GptTensorGroup* made) {
  std::vector<Tensor> tensors;
  for (const int i : made->tensors) tensors.push_back(weights_.tensor(i));
  options.place = GradientPlace::kBucket;
  auto reducer = Reducer::Create(group, std::move(tensors), options);
  if (!reducer.ok()) return reducer.status();
  made->reducer = *std::move(reducer);
  return absl::OkStatus();
}

void GptStageGradients::Place() {
  for (const GptTensorGroup* group : {&own_, &tied_}) {
    for (size_t i = 0; i < group->tensors.size(); ++i) {
      weights_.PlaceGradient(
          group->tensors[i],
          static_cast<float*>(group->reducer->gradient(static_cast<int>(i))));
    }
  }
}

template <typename Call>
absl::Status GptStageGradients::Each(Call call) {
  absl::Status status = call(*own_.reducer);
  if (status.ok() && tied_.reducer != nullptr) status = call(*tied_.reducer);
  return status;
}

absl::Status GptStageGradients::Begin(WeightPass pass) {
  pass_ = pass;
  const GradientSync sync = pass == WeightPass::kLast
                                ? GradientSync::kReduce
                                : GradientSync::kAccumulate;
  return Each([sync](Reducer& reducer) { return reducer.Begin(sync); });
}

absl::Status GptStageGradients::Ready(int tensor) {
  const int parameter = parameters_[static_cast<size_t>(tensor)];
  if (tensor != tied_tensor_) return own_.reducer->MarkReady(parameter);
  if (pass_ == WeightPass::kLast) {
    Scale(weights_.gradient(tensor),
          weights_.tensors()[static_cast<size_t>(tensor)].count(), kShares);
  }
  return tied_.reducer->MarkReady(parameter);
}

absl::Status GptStageGradients::End() {
  if (pass_ == WeightPass::kLast) return absl::OkStatus();
  return Each([](Reducer& reducer) { return reducer.Finish(); });
}

absl::Status GptStageGradients::Finish() {
  absl::Status status = Each([](Reducer& reducer) { return reducer.Finish(); });
  // The first step may have moved the gradients.
  Place();
  return status;
}

}  // namespace muster::models
