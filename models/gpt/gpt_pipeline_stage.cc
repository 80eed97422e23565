#include "models/gpt/gpt_pipeline_stage.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "trainer_sdk/optim/gradient_norm.h"

namespace muster::models {
namespace {

constexpr char kTokenTable[] = "transformer.wte.weight";
// The number of pipeline stages that have the token table: the first and the
// last.
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
  // In its first step a reducer may move gradients to other buckets. So update
  // the weights' pointers to their gradients.
  Place();
  return status;
}

GptPipelineStage::GptPipelineStage(GptWeights& weights, int64_t batch,
                                   int64_t time,
                                   GptStage::Checkpointing checkpointing,
                                   Source source, WeightPassListener* listener)
    : stage_(weights, batch, time, checkpointing),
      stream_sizes_({batch, time, weights.config().width}),
      source_(std::move(source)),
      listener_(listener),
      stream_(static_cast<size_t>(stage_.stream_count())) {}

StreamShape GptPipelineStage::InputShape() const {
  return {.dtype = DType::kFloat32, .sizes = stream_sizes_};
}

void GptPipelineStage::ReserveActivationSlots(int slots) {
  slots_.resize(static_cast<size_t>(slots));
}

void GptPipelineStage::Read(const void* from) {
  if (from == nullptr) return;
  std::memcpy(stream_.data(), from, stream_.size() * sizeof(float));
}

void GptPipelineStage::Write(void* to) const {
  if (to == nullptr) return;
  std::memcpy(to, stream_.data(), stream_.size() * sizeof(float));
}

absl::Status GptPipelineStage::Forward(const PipelinePass& pass,
                                       const void* input, void* output) {
  GptMicroBatch& micro_batch = At(pass);
  if (stage_.has_embeddings() || stage_.has_head()) {
    absl::Status filled = source_(pass.micro_batch, &micro_batch);
    if (!filled.ok()) return filled;
  }
  Read(input);
  stage_.Forward(&micro_batch, &stream_);
  Write(output);
  return absl::OkStatus();
}

absl::StatusOr<double> GptPipelineStage::Loss(const PipelinePass& pass,
                                              double factor) {
  return pass.purpose == PipelinePass::Purpose::kEvaluation
             ? stage_.LossOnly(&At(pass), stream_)
             : stage_.Loss(&At(pass), stream_, static_cast<float>(factor));
}

absl::Status GptPipelineStage::Heard(
    const PipelinePass& pass,
    const std::function<void(const GradientReady&)>& perform) {
  if (listener_ == nullptr) {
    perform([](int) {});
    return absl::OkStatus();
  }
  absl::Status status = listener_->Begin(pass.weights);
  if (!status.ok()) return status;
  perform([&](int tensor) {
    if (status.ok()) status = listener_->Ready(tensor);
  });
  if (!status.ok()) return status;
  return listener_->End();
}

absl::Status GptPipelineStage::Backward(const PipelinePass& pass,
                                        const void* output_gradient,
                                        void* input_gradient) {
  Read(output_gradient);
  absl::Status status = Heard(pass, [&](const GradientReady& ready) {
    stage_.Backward(&At(pass), &stream_, ready);
  });
  if (status.ok()) Write(input_gradient);
  return status;
}

absl::Status GptPipelineStage::BackwardInput(const PipelinePass& pass,
                                             const void* output_gradient,
                                             void* input_gradient) {
  Read(output_gradient);
  stage_.BackwardInput(&At(pass), &stream_);
  Write(input_gradient);
  return absl::OkStatus();
}

absl::Status GptPipelineStage::BackwardWeight(const PipelinePass& pass) {
  return Heard(pass, [&](const GradientReady& ready) {
    stage_.BackwardWeight(&At(pass), ready);
  });
}

}  // namespace muster::models
