#ifndef MUSTER_MODELS_GPT_GPT_PIPELINE_H_
#define MUSTER_MODELS_GPT_GPT_PIPELINE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "models/gpt/gpt_config.h"
#include "models/gpt/gpt_pipeline_stage.h"
#include "models/gpt/gpt_stage_gradients.h"
#include "models/gpt/gpt_weights.h"
#include "trainer_sdk/checkpoint/checkpoint_slice.h"
#include "trainer_sdk/optim/optimizer.h"
#include "trainer_sdk/optim/update_rule.h"
#include "trainer_sdk/pipeline/runtime/pipeline_runtime.h"
#include "trainer_sdk/process_group/device_mesh.h"

namespace muster {

struct GptPipelineOptions {
  GptConfig model;
  // Sequences in a micro-batch, and tokens of each: at most the context.
  int64_t batch = 1;
  int64_t time = 1;
  GptStage::Checkpointing checkpointing = GptStage::Checkpointing::kNone;
  // Of the weights.
  uint64_t seed = 0;
  std::shared_ptr<const UpdateRule> rule;
  // Whether each rank keeps all of the optimizer's state for its stages, or
  // shares it with those that have the same ones (ZeRO-1).
  enum class State { kReplicated, kSharded } state = State::kReplicated;
  // Of the whole model's gradient's norm; 0: none.
  double clip = 0;
  PipelineOptions pipeline;
};

// What is known of a step when it is done; the same on every rank.
struct GptPipelineStep {
  // Mean over all micro-batches.
  double loss = 0;
  // Of the whole model's gradient, before it was clipped.
  double gradient_norm = 0;
};

// One rank's part of a transformer that is trained by a pipeline of stages,
// each of which several ranks have alike, on other data: pipeline and data
// parallelism in a DeviceMesh(pp, dp). Gradients of stages are averaged over dp
// by Reducers, while the pipeline goes on. The weights are those of a training
// on one rank, up to the order of sums. Not thread-safe.
class GptPipeline {
 public:
  // Gives micro-batch m of data-parallel rank d its tokens and targets: it is
  // number d * (micro-batches of the schedule) + m of the step.
  using Source = GptPipelineStage::Source;

  // Collective over `world`, of p * dp ranks for a schedule of p, ranks of dp
  // next to each other; `world` need not outlive it. InvalidArgument: the ranks
  // are no multiple of the schedule's, or the layers too few, or one rank has
  // several stages and no other rank is there, or micro-batches are empty or
  // longer than the context. Other errors are those of groups, PipelineRuntime
  // and Reducer.
  static absl::StatusOr<std::unique_ptr<GptPipeline>> Create(
      ProcessGroup& world, PipelineSchedule schedule,
      const GptPipelineOptions& options, Source source);

  // Collective: the schedule's micro-batches, then the optimizer with `step`.
  // OutOfRange: the gradient is no number. An error breaks all groups that this
  // rank is in, so that the others hear of it, and why.
  absl::StatusOr<GptPipelineStep> Step(const OptimizerStep& step);

  // Collective: the mean loss over as many micro-batches as a step has.
  absl::StatusOr<double> Evaluate();

  // All that the next step depends on, this rank's part of it, for checkpoints:
  // weights under their names in the whole model, so that any other split of
  // the layers, or none, can go on with it. Places stay the same, and may be
  // written from outside between steps.
  std::vector<CheckpointSlice> State();

  // Which data this rank's pipeline is for.
  int data_rank() const { return mesh_->coordinate("dp"); }
  // The weights of this rank's stages: its own rank in the pipeline, that + p,
  // ...
  const GptWeights& weights(int chunk) const {
    return *chunks_[static_cast<size_t>(chunk)].weights;
  }
  const PipelineRuntime& runtime() const { return *runtime_; }
  const DeviceMesh& mesh() const { return *mesh_; }

 private:
  // A stage of this rank.
  struct Chunk {
    std::unique_ptr<GptWeights> weights;
    std::unique_ptr<ProcessGroup> data;
    std::unique_ptr<GptStageGradients> gradients;
    std::unique_ptr<GptPipelineStage> stage;
    std::unique_ptr<Optimizer> optimizer;
    // Of the tied token table; null where there is none.
    std::unique_ptr<Optimizer> tied_optimizer;
  };

  explicit GptPipeline(const GptPipelineOptions& options) : options_(options) {}
  absl::Status Prepare(ProcessGroup& world, PipelineSchedule schedule,
                       const Source& source);
  absl::Status AddChunk(GptLayers layers, int stage, const Source& source);
  absl::StatusOr<std::unique_ptr<Optimizer>> MakeOptimizer(
      const Chunk& chunk, const GptTensorGroup& group, ProcessGroup& ranks);
  absl::StatusOr<GptPipelineStep> StepOrError(const OptimizerStep& step);
  absl::Status Break(const absl::Status& status);
  absl::StatusOr<double> SumOfSquares();
  absl::StatusOr<double> MeanOverData(absl::StatusOr<double> loss);

  const GptPipelineOptions options_;
  std::unique_ptr<DeviceMesh> mesh_;
  // Of those that have the token table; null elsewhere, and where one stage has
  // all of it.
  std::unique_ptr<ProcessGroup> tied_;
  std::vector<Chunk> chunks_;
  std::unique_ptr<PipelineRuntime> runtime_;
};

}  // namespace muster

#endif  // MUSTER_MODELS_GPT_GPT_PIPELINE_H_
