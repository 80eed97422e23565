#include "models/gpt/gpt_pipeline_stage.h"

#include <cstddef>
#include <cstring>
#include <utility>

namespace muster::models {

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

void GptPipelineStage::ReservePlaces(int places) {
  places_.resize(static_cast<size_t>(places));
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
