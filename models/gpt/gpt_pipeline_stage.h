#ifndef MUSTER_MODELS_GPT_GPT_PIPELINE_STAGE_H_
#define MUSTER_MODELS_GPT_GPT_PIPELINE_STAGE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "models/gpt/gpt_stage.h"
#include "models/gpt/gpt_weights.h"
#include "trainer_sdk/ddp/reducer.h"
#include "trainer_sdk/pipeline/runtime/pipeline_stage.h"
#include "trainer_sdk/process_group/process_group.h"

namespace muster::models {

// The tensors of a stage whose gradients one reducer averages. Parameter i of
// the reducer is the stage's tensor number tensors[i].
struct GptTensorGroup {
  std::vector<int> tensors;
  std::unique_ptr<Reducer> reducer;
};

// Averages the gradients of one pipeline stage over the ranks that have this
// stage. The averaging begins during the stage's last backward pass of a step,
// and continues during later passes of other stages.
//
// Two stages have a copy of the token table: the first one for the embeddings,
// the last one for the head. The table's gradient is the sum of the gradients
// in both stages. A separate reducer averages this gradient over all ranks of
// the two stages, so their tables stay bit-identical (Megatron-LM's embedding
// group). The reducer computes the average of the two stages' gradients, but
// their sum is needed. So each gradient is doubled first, which is exact.
class GptStageGradients : public WeightPassListener {
 public:
  // Collective over the groups `data` and `tied`, which must outlive this
  // object and must not be used by other code during a step. `data`: the ranks
  // that have the stage. `tied`: the ranks that have the token table; null if
  // the stage has no table, or if it has both the embeddings and the head.
  // Gradients lie in the reducers' buckets.
  static absl::StatusOr<std::unique_ptr<GptStageGradients>> Create(
      GptWeights& weights, ProcessGroup& data, ProcessGroup* tied,
      const DdpOptions& options);

  absl::Status Begin(WeightPass pass) override;
  absl::Status Ready(int tensor) override;
  absl::Status End() override;

  // Blocks until all gradients are averaged. Call Finish once per step, after
  // all stages of this rank have finished their passes.
  absl::Status Finish();

  // All tensors except the tied token table.
  const GptTensorGroup& own() const { return own_; }
  // The token table, if this stage shares it with another stage (tied table);
  // otherwise empty.
  const GptTensorGroup& tied() const { return tied_; }

 private:
  explicit GptStageGradients(GptWeights& weights);

  absl::Status MakeReducer(ProcessGroup& group, DdpOptions options,
                           GptTensorGroup* made);
  void Place();
  // Calls `call` with the reducer of own_ (the stage's own tensors) and then,
  // if the stage shares the token table with another stage, with the reducer of
  // tied_ (the table).
  template <typename Call>
  absl::Status Each(Call call);

  GptWeights& weights_;
  GptTensorGroup own_;
  GptTensorGroup tied_;
  // Index: a tensor of the stage. Value: the number of the tensor's parameter
  // in its reducer. The tied token table belongs to the reducer of tied_, every
  // other tensor to the reducer of own_.
  std::vector<int> parameters_;
  int tied_tensor_ = -1;
  WeightPass pass_ = WeightPass::kMoreToCome;
};

// The layers of a transformer as a pipeline stage. Each activation slot of the
// schedule has arrays for the activations of one micro-batch. Micro-batches
// that get the same slot one after another use the same arrays.
class GptPipelineStage : public PipelineStage {
 public:
  // Provides the data of a micro-batch of the step: the tokens on the first
  // stage, the targets on the last.
  using Source =
      std::function<absl::Status(int micro_batch, GptMicroBatch* filled)>;

  // `weights` and `listener` must outlive this object; `listener` may be null.
  // The listener is notified of complete gradients by the tensors' indices in
  // `weights`.
  GptPipelineStage(GptWeights& weights, int64_t batch, int64_t time,
                   GptStage::Checkpointing checkpointing, Source source,
                   WeightPassListener* listener);

  StreamShape InputShape() const override;
  StreamShape OutputShape() const override { return InputShape(); }
  void ReserveActivationSlots(int slots) override;
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
    return slots_[static_cast<size_t>(pass.activation_slot)];
  }
  void Read(const void* from);
  void Write(void* to) const;
  // Calls the listener's Begin, then `perform`, then the listener's End.
  // `perform` computes the pass. It gets a callback, which it must call for
  // each tensor whose gradient is complete; the callback notifies the listener.
  // Without a listener, Heard only calls `perform`.
  absl::Status Heard(const PipelinePass& pass,
                     const std::function<void(const GradientReady&)>& perform);

  const GptStage stage_;
  const std::vector<int64_t> stream_sizes_;
  const Source source_;
  WeightPassListener* const listener_;
  std::vector<GptMicroBatch> slots_;
  // Buffer for the array that enters a pass from the neighbouring stage, and
  // for the array that leaves the pass.
  std::vector<float> stream_;
};

}  // namespace muster::models

#endif  // MUSTER_MODELS_GPT_GPT_PIPELINE_STAGE_H_
