#ifndef MUSTER_MODELS_GPT_GPT_STAGE_GRADIENTS_H_
#define MUSTER_MODELS_GPT_GPT_STAGE_GRADIENTS_H_

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "models/gpt/gpt_weights.h"
#include "trainer_sdk/ddp/reducer.h"
#include "trainer_sdk/pipeline/runtime/weight_pass_listener.h"
#include "trainer_sdk/process_group/process_group.h"

namespace muster {

// Some of a stage's tensors, whose gradients a reducer averages: its parameter
// i is the stage's tensor tensors[i].
struct GptTensorGroup {
  std::vector<int> tensors;
  std::unique_ptr<Reducer> reducer;
};

// The gradients of one pipeline stage: averaged over those who have the same
// stage, while the stage's last backward pass of a step makes them, and while
// other stages' passes follow.
//
// The token table is in two stages, at the first as embeddings and at the last
// as the head, and its gradient is the sum of both. So it has a reducer of its
// own, over all ranks of both stages, which gives both the same gradient bit
// for bit, and with it the same table for good (Megatron-LM's embedding group).
// As a reducer averages, each stage's share is doubled first, which is exact.
class GptStageGradients : public WeightPassListener {
 public:
  // Collective over both groups, which must outlive it, and are its own while a
  // step lasts. `data`: the ranks that have the stage. `tied`: those that have
  // the token table too, or null for a stage without, or with both of its uses.
  // Gradients go to the reducers' buckets.
  static absl::StatusOr<std::unique_ptr<GptStageGradients>> Create(
      GptWeights& weights, ProcessGroup& data, ProcessGroup* tied,
      const DdpOptions& options);

  absl::Status Begin(WeightPass pass) override;
  absl::Status Ready(int tensor) override;
  absl::Status End() override;

  // After the step's last pass of any stage: waits until gradients are averages
  // everywhere.
  absl::Status Finish();

  // All but the tied table.
  const GptTensorGroup& own() const { return own_; }
  // No tensor where none is tied.
  const GptTensorGroup& tied() const { return tied_; }

 private:
  explicit GptStageGradients(GptWeights& weights);

  absl::Status MakeReducer(ProcessGroup& group, DdpOptions options,
                           GptTensorGroup* made);
  void Place();
  // Calls of both reducers.
  template <typename Call>
  absl::Status Each(Call call);

  GptWeights& weights_;
  GptTensorGroup own_;
  GptTensorGroup tied_;
  // By tensor: its parameter's number in its group.
  std::vector<int> parameters_;
  int tied_tensor_ = -1;
  WeightPass pass_ = WeightPass::kMoreToCome;
};

}  // namespace muster

#endif  // MUSTER_MODELS_GPT_GPT_STAGE_GRADIENTS_H_
