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

// A subset of a stage's tensors whose gradients one reducer averages. Parameter
// i of the reducer is the stage's tensor tensors[i].
struct GptTensorGroup {
  std::vector<int> tensors;
  std::unique_ptr<Reducer> reducer;
};

// Averages the gradients of one pipeline stage over the ranks that have this
// stage, during the stage's last backward pass of a step and during the passes
// of other stages that follow.
//
// The token table is in two stages, as embeddings in the first and as the head
// in the last, and its gradient is the sum of the gradients in both. The table
// has a reducer of its own over all ranks of both stages. So both stages get
// bit-identical gradients and keep equal tables (Megatron-LM's embedding
// group). Because a reducer averages, each stage's gradient is doubled first,
// which is exact.
class GptStageGradients : public WeightPassListener {
 public:
  // Collective over both groups, which must outlive this object and must not be
  // used by others during a step. `data`: the ranks that have the stage.
  // `tied`: the ranks that have the token table; null for a stage without the
  // table or with both of its uses. Gradients lie in the reducers' buckets.
  static absl::StatusOr<std::unique_ptr<GptStageGradients>> Create(
      GptWeights& weights, ProcessGroup& data, ProcessGroup* tied,
      const DdpOptions& options);

  absl::Status Begin(WeightPass pass) override;
  absl::Status Ready(int tensor) override;
  absl::Status End() override;

  // Blocks until all gradients are averaged. Called after the last pass of the
  // step in any stage.
  absl::Status Finish();

  // All tensors except the tied table.
  const GptTensorGroup& own() const { return own_; }
  // The tied token table; empty if the stage has none.
  const GptTensorGroup& tied() const { return tied_; }

 private:
  explicit GptStageGradients(GptWeights& weights);

  absl::Status MakeReducer(ProcessGroup& group, DdpOptions options,
                           GptTensorGroup* made);
  void Place();
  // Makes the same call of both reducers.
  template <typename Call>
  absl::Status Each(Call call);

  GptWeights& weights_;
  GptTensorGroup own_;
  GptTensorGroup tied_;
  // Indexed by tensor: the index of the tensor's parameter in its group.
  std::vector<int> parameters_;
  int tied_tensor_ = -1;
  WeightPass pass_ = WeightPass::kMoreToCome;
};

// Layers of a transformer as a pipeline stage. The activations of a micro-batch
// are in the arrays of its activation slot, which are reused.
class GptPipelineStage : public PipelineStage {
 public:
  // Fills a micro-batch of the step: the tokens on the first stage, the targets
  // on the last.
  using Source =
      std::function<absl::Status(int micro_batch, GptMicroBatch* filled)>;

  // `weights` and `listener` must outlive this object; `listener` may be null.
  // The listener receives indices of the tensors of `weights`.
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
  // Calls `pass`, which reports complete gradients, between Begin and End of
  // the listener.
  absl::Status Heard(const PipelinePass& pass,
                     const std::function<void(const GradientReady&)>& perform);

  const GptStage stage_;
  const std::vector<int64_t> stream_sizes_;
  const Source source_;
  WeightPassListener* const listener_;
  std::vector<GptMicroBatch> slots_;
  // Buffer for the input and the output of a pass.
  std::vector<float> stream_;
};

}  // namespace muster::models

#endif  // MUSTER_MODELS_GPT_GPT_PIPELINE_STAGE_H_
