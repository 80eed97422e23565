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
#include "models/gpt/gpt_weights.h"
#include "trainer_sdk/checkpoint/checkpoint_slice.h"
#include "trainer_sdk/optim/optimizer.h"
#include "trainer_sdk/optim/update_rule.h"
#include "trainer_sdk/pipeline/runtime/pipeline_runtime.h"
#include "trainer_sdk/process_group/device_mesh.h"

namespace muster::models {

struct GptPipelineOptions {
  GptConfig model;
  int64_t batch = 1;  // number of sequences per micro-batch
  // Number of tokens per sequence, at most GptConfig::context.
  int64_t time = 1;
  GptStage::Checkpointing checkpointing = GptStage::Checkpointing::kNone;
  // Seed of the initial weights.
  uint64_t seed = 0;
  std::shared_ptr<const UpdateRule> rule;
  // The optimizer state of a stage: replicated on all ranks that have the
  // stage, or sharded between these ranks (ZeRO-1).
  enum class State { kReplicated, kSharded } state = State::kReplicated;
  // Maximum norm of the whole model's gradient (gradient clipping); 0: no
  // clipping.
  double clip = 0;
  PipelineOptions pipeline;
};

// The results of a step, equal on all ranks.
struct GptPipelineStep {
  // Mean loss over all micro-batches of the step, on all ranks.
  double loss = 0;
  // Norm of the whole model's gradient, before clipping.
  double gradient_norm = 0;
};

// One rank's part of a transformer that is trained with pipeline and data
// parallelism, in a DeviceMesh with the dimensions pp (pipeline) and dp (data).
// The ranks of a dp group have the same stage and train it on different data.
// Reducers average the gradients of a stage over its dp group while the
// pipeline runs. The weights equal those of a training on one rank, up to the
// order of sums. Not thread-safe.
class GptPipeline {
 public:
  // Provides the tokens and targets of a micro-batch. Micro-batch m of
  // data-parallel rank d has the number d * (micro-batches of the schedule) + m
  // in the step.
  using Source = GptPipelineStage::Source;

  // Collective over `world`, which has p * d ranks: p ranks per pipeline, as in
  // the schedule, and d pipelines. The ranks of one dp group are consecutive.
  // `world` may be destroyed before this object. InvalidArgument: the number of
  // ranks is not a multiple of p; there are too few layers; a pipeline of one
  // rank has several stages; a micro-batch is empty or longer than the context.
  // Other errors are those of groups, PipelineRuntime and Reducer.
  static absl::StatusOr<std::unique_ptr<GptPipeline>> Create(
      ProcessGroup& world, PipelineSchedule schedule,
      const GptPipelineOptions& options, Source source);

  // Collective. Runs the schedule's micro-batches, then the optimizer with
  // `step`. OutOfRange: the gradient is not finite. An error breaks all groups
  // of this rank, so that the other ranks get the error with its cause.
  absl::StatusOr<GptPipelineStep> Step(const OptimizerStep& step);

  // Collective. Runs as many micro-batches as a step has, without backward
  // passes, and returns their mean loss.
  absl::StatusOr<double> Evaluate();

  // This rank's part of the state that the next step depends on, for
  // checkpoints. The weights have their names in the whole model, so that a
  // training with any other split of the layers can resume. The slices keep
  // their addresses; a checkpoint may be read into their memory between steps.
  std::vector<CheckpointSlice> State();

  // The index of this rank's pipeline among the data-parallel pipelines.
  int data_rank() const { return mesh_->coordinate("dp"); }
  // The weights of this rank's chunk number `chunk`, which is stage rank +
  // chunk * p of the pipeline (p: ranks of the pipeline).
  const GptWeights& weights(int chunk) const {
    return *chunks_[static_cast<size_t>(chunk)].weights;
  }
  const PipelineRuntime& runtime() const { return *runtime_; }
  const DeviceMesh& mesh() const { return *mesh_; }

 private:
  // One pipeline stage that this rank computes, with its weights and optimizer.
  struct Chunk {
    std::unique_ptr<GptWeights> weights;
    std::unique_ptr<ProcessGroup> data;
    std::unique_ptr<GptStageGradients> gradients;
    std::unique_ptr<GptPipelineStage> stage;
    std::unique_ptr<Optimizer> optimizer;
    // Optimizer of a token table that two stages share: the first stage uses it
    // for the embeddings, the last stage for the head. Null: this stage shares
    // no token table.
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
  // The group of all ranks that have the token table. Null if this rank has no
  // token table, or if one stage has both the embeddings and the head.
  std::unique_ptr<ProcessGroup> tied_;
  std::vector<Chunk> chunks_;
  std::unique_ptr<PipelineRuntime> runtime_;
};

}  // namespace muster::models

#endif  // MUSTER_MODELS_GPT_GPT_PIPELINE_H_
