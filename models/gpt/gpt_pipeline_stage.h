#ifndef MUSTER_MODELS_GPT_GPT_PIPELINE_STAGE_H_
#define MUSTER_MODELS_GPT_GPT_PIPELINE_STAGE_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "models/gpt/gpt_stage.h"
#include "models/gpt/gpt_weights.h"
#include "trainer_sdk/pipeline/runtime/pipeline_stage.h"

namespace muster::models {

// Layers of a transformer as a pipeline stage. The activations of a micro-batch
// are in the arrays of its place, which are reused.
class GptPipelineStage : public PipelineStage {
 public:
  // Fills a micro-batch of the step: the tokens on the first stage, the targets
  // on the last.
  using Source =
      std::function<absl::Status(int micro_batch, GptMicroBatch* filled)>;

  // `weights`, and `listener` if it is not null, must outlive it. The listener
  // receives indices of `weights`' tensors.
  GptPipelineStage(GptWeights& weights, int64_t batch, int64_t time,
                   GptStage::Checkpointing checkpointing, Source source,
                   WeightPassListener* listener);

  StreamShape InputShape() const override;
  StreamShape OutputShape() const override { return InputShape(); }
  void ReservePlaces(int places) override;
  absl::Status Forward(const PipelinePass& pass, const void* input,
                       void* output) override;
  absl::StatusOr<double> Loss(const PipelinePass& pass, double factor) override;
  absl::Status Backward(const PipelinePass& pass, const void* output_gradient,
                        void* input_gradient) override;
  absl::Status BackwardInput(const PipelinePass& pass,
                             const void* output_gradient,
                             void* input_gradient) override;
  absl::Status BackwardWeight(const PipelinePass& pass) override;

 private:
  GptMicroBatch& At(const PipelinePass& pass) {
    return places_[static_cast<size_t>(pass.place)];
  }
  void Read(const void* from);
  void Write(void* to) const;
  // Runs `pass`, which reports complete gradients, between the listener's Begin
  // and End.
  absl::Status Heard(const PipelinePass& pass,
                     const std::function<void(const GradientReady&)>& perform);

  const GptStage stage_;
  const std::vector<int64_t> stream_sizes_;
  const Source source_;
  WeightPassListener* const listener_;
  std::vector<GptMicroBatch> places_;
  // Input and output of a pass.
  std::vector<float> stream_;
};

}  // namespace muster::models

#endif  // MUSTER_MODELS_GPT_GPT_PIPELINE_STAGE_H_
