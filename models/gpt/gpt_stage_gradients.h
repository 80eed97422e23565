#ifndef MUSTER_MODELS_GPT_GPT_STAGE_GRADIENTS_H_
#define MUSTER_MODELS_GPT_GPT_STAGE_GRADIENTS_H_

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "models/gpt/gpt_weights.h"
#include "trainer_sdk/ddp/reducer.h"
#include "trainer_sdk/pipeline/runtime/pipeline_stage.h"
#include "trainer_sdk/process_group/process_group.h"

namespace muster::models {

// A subset of a stage's tensors whose gradients one reducer averages: its
// parameter i is the stage's tensor tensors[i].
struct GptTensorGroup {
  std::vector<int> tensors;
  std::unique_ptr<Reducer> reducer;
};

// Averages the gradients of one pipeline stage over the ranks that have this
// stage, during the stage's last backward pass of a step and during the passes
// of other stages that follow.
//
// The token table is in two stages, as embeddings in the first and as the head
// in the last, and its gradient is the sum of both. It has a reducer of its own
// over all ranks of both stages. So both get bit-identical gradients and keep
// equal tables (Megatron-LM's embedding group). Because a reducer averages,
// each stage's gradient is doubled first, which is exact.
class GptStageGradients : public WeightPassListener {
 public:
  // Collective over both groups, which must outlive it and must not be used
  // otherwise during a step. `data`: the ranks that have the stage. `tied`: the
  // ranks that have the token table; null for a stage without it or with both
  // of its uses. Gradients lie in the reducers' buckets.
  static absl::StatusOr<std::unique_ptr<GptStageGradients>> Create(
      GptWeights& weights, ProcessGroup& data, ProcessGroup* tied,
      const DdpOptions& options);

  absl::Status Begin(WeightPass pass) override;
  absl::Status Ready(int tensor) override;
  absl::Status End() override;

  // Called after the step's last pass of any stage: blocks until all gradients
  // are averaged.
  absl::Status Finish();

  // All tensors but the tied table.
  const GptTensorGroup& own() const { return own_; }
  // Empty if no tensor is tied.
  const GptTensorGroup& tied() const { return tied_; }

 private:
  explicit GptStageGradients(GptWeights& weights);

  absl::Status MakeReducer(ProcessGroup& group, DdpOptions options,
                           GptTensorGroup* made);
  void Place();
  // Makes a call of both reducers.
  template <typename Call>
  absl::Status Each(Call call);

  GptWeights& weights_;
  GptTensorGroup own_;
  GptTensorGroup tied_;
  // By tensor: its parameter index in its group.
  std::vector<int> parameters_;
  int tied_tensor_ = -1;
  WeightPass pass_ = WeightPass::kMoreToCome;
};

}  // namespace muster::models

#endif  // MUSTER_MODELS_GPT_GPT_STAGE_GRADIENTS_H_
