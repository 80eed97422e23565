#include "models/gpt/gpt_pipeline.h"

#include <cmath>
#include <cstddef>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "models/gpt/gpt_config.h"
#include "trainer_sdk/optim/gradient_norm.h"
#include "trainer_sdk/optim/replicated_optimizer.h"
#include "trainer_sdk/pipeline/runtime/first_cause.h"
#include "trainer_sdk/process_group/operations.h"
#include "trainer_sdk/zero/scatter_hook.h"
#include "trainer_sdk/zero/sharded_optimizer.h"

namespace muster::models {

absl::StatusOr<std::unique_ptr<GptPipeline>> GptPipeline::Create(
    ProcessGroup& world, PipelineSchedule schedule,
    const GptPipelineOptions& options, Source source) {
  if (absl::Status wrong = options.model.Check(); !wrong.ok()) return wrong;
  if (options.batch < 1 || options.time < 1 ||
      options.time > options.model.context) {
    return absl::InvalidArgumentError(absl::StrCat(
        "micro-batches of ", options.batch, " sequences of ", options.time,
        " tokens, for a context of ", options.model.context));
  }
  const PipelineShape& shape = schedule.shape;
  if (shape.ranks < 1 || world.size() % shape.ranks != 0) {
    return absl::InvalidArgumentError(absl::StrCat("pipelines of ", shape.ranks,
                                                   " ranks cannot be made of ",
                                                   world.size(), " ranks"));
  }
  if (shape.ranks == 1 && shape.stages_per_rank > 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a pipeline of one rank has one stage, not ", shape.stages_per_rank));
  }
  std::unique_ptr<GptPipeline> pipeline(new GptPipeline(options));
  absl::Status status = pipeline->Prepare(world, std::move(schedule), source);
  if (!status.ok()) return status;
  return pipeline;
}

absl::Status GptPipeline::Prepare(ProcessGroup& world,
                                  PipelineSchedule schedule,
                                  const Source& source) {
  const PipelineShape shape = schedule.shape;
  const auto layers = SplitLayers(options_.model, shape.stages());
  if (!layers.ok()) return layers.status();
  auto mesh = DeviceMesh::Create(
      world, {{"pp", shape.ranks}, {"dp", world.size() / shape.ranks}});
  if (!mesh.ok()) return mesh.status();
  mesh_ = *std::move(mesh);
  const int rank = mesh_->coordinate("pp");
  if (shape.ranks > 1) {
    const bool has_table = rank == 0 || rank == shape.ranks - 1;
    auto tied = world.Split(has_table ? 0 : -1, world.rank(), "token_table");
    if (!tied.ok()) return tied.status();
    tied_ = *std::move(tied);
  }
  std::vector<PipelineStage*> stages;
  for (int stage = rank; stage < shape.stages(); stage += shape.ranks) {
    absl::Status status =
        AddChunk((*layers)[static_cast<size_t>(stage)], stage, source);
    if (!status.ok()) return status;
    stages.push_back(chunks_.back().stage.get());
  }
  auto runtime =
      PipelineRuntime::Create(mesh_->group("pp"), std::move(schedule),
                              std::move(stages), options_.pipeline);
  if (!runtime.ok()) return runtime.status();
  runtime_ = *std::move(runtime);
  return absl::OkStatus();
}

absl::Status GptPipeline::AddChunk(GptLayers layers, int stage,
                                   const Source& source) {
  ProcessGroup& data = mesh_->group("dp");
  Chunk chunk;
  chunk.weights = std::make_unique<GptWeights>(options_.model, layers);
  chunk.weights->Initialize(options_.seed);
  auto group = data.Split(0, data.rank(), absl::StrCat("stage", stage));
  if (!group.ok()) return group.status();
  chunk.data = *std::move(group);
  const bool has_table =
      layers.first == 0 || layers.last == options_.model.layers;
  const DdpOptions ddp = options_.state == GptPipelineOptions::State::kSharded
                             ? ForSharding()
                             : DdpOptions{};
  auto gradients = GptStageGradients::Create(
      *chunk.weights, *chunk.data, has_table ? tied_.get() : nullptr, ddp);
  if (!gradients.ok()) return gradients.status();
  chunk.gradients = *std::move(gradients);
  chunk.stage = std::make_unique<GptPipelineStage>(
      *chunk.weights, options_.batch, options_.time, options_.checkpointing,
      source, chunk.gradients.get());
  auto optimizer = MakeOptimizer(chunk, chunk.gradients->own(), *chunk.data);
  if (!optimizer.ok()) return optimizer.status();
  chunk.optimizer = *std::move(optimizer);
  if (!chunk.gradients->tied().tensors.empty()) {
    auto tied = MakeOptimizer(chunk, chunk.gradients->tied(), *tied_);
    if (!tied.ok()) return tied.status();
    chunk.tied_optimizer = *std::move(tied);
  }
  chunks_.push_back(std::move(chunk));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Optimizer>> GptPipeline::MakeOptimizer(
    const Chunk& chunk, const GptTensorGroup& group, ProcessGroup& ranks) {
  std::vector<Tensor> tensors;
  for (const int i : group.tensors) tensors.push_back(chunk.weights->tensor(i));
  const Reducer* const reducer = group.reducer.get();
  if (options_.state == GptPipelineOptions::State::kSharded) {
    // The optimizer may use the reducer's process group, because the reducer
    // uses this group only between Begin and Finish.
    auto sharded = ShardedOptimizer::Create(ranks, *reducer, options_.rule,
                                            std::move(tensors));
    if (!sharded.ok()) return sharded.status();
    return *std::move(sharded);
  }
  return std::make_unique<ReplicatedOptimizer>(
      options_.rule, std::move(tensors),
      [reducer](int parameter) { return reducer->average(parameter); });
}

absl::StatusOr<GptPipelineStep> GptPipeline::Step(const OptimizerStep& step) {
  auto done = StepOrError(step);
  if (!done.ok()) return Break(done.status());
  return done;
}

absl::Status GptPipeline::Break(const absl::Status& status) {
  const std::string reason = BrokenBecause(std::string(status.message()));
  for (const Chunk& chunk : chunks_) chunk.data->Abort(reason);
  if (tied_ != nullptr) tied_->Abort(reason);
  mesh_->group("dp").Abort(reason);
  mesh_->group("pp").Abort(reason);
  return status;
}

absl::StatusOr<GptPipelineStep> GptPipeline::StepOrError(
    const OptimizerStep& step) {
  for (Chunk& chunk : chunks_) chunk.weights->ZeroGradients();
  const absl::StatusOr<double> loss = MeanOverData(runtime_->Step());
  if (!loss.ok()) return loss.status();
  for (Chunk& chunk : chunks_) {
    absl::Status status = chunk.gradients->Finish();
    if (!status.ok()) return status;
  }
  const absl::StatusOr<double> squares = SumOfSquares();
  if (!squares.ok()) return squares.status();
  if (!std::isfinite(*squares)) {
    return absl::OutOfRangeError(
        absl::StrCat("update ", step.step, ": the gradient is no number, so ",
                     "weights would be none; a lower learning rate may help"));
  }
  const double scaled = *squares * step.gradient_factor * step.gradient_factor;
  OptimizerStep clipped = step;
  if (options_.clip > 0) {
    clipped.gradient_factor *= ClipCoefficient(scaled, options_.clip);
  }
  for (Chunk& chunk : chunks_) {
    absl::Status status = chunk.optimizer->Step(clipped);
    if (status.ok() && chunk.tied_optimizer != nullptr) {
      status = chunk.tied_optimizer->Step(clipped);
    }
    if (!status.ok()) return status;
  }
  return GptPipelineStep{.loss = *loss, .gradient_norm = std::sqrt(scaled)};
}

absl::StatusOr<double> GptPipeline::SumOfSquares() {
  double sum = 0;
  for (Chunk& chunk : chunks_) {
    const absl::StatusOr<double> own = chunk.optimizer->SumOfSquares();
    if (!own.ok()) return own.status();
    sum += *own;
    if (chunk.tied_optimizer == nullptr) continue;
    const absl::StatusOr<double> tied = chunk.tied_optimizer->SumOfSquares();
    if (!tied.ok()) return tied.status();
    // The first and the last stage each have a copy of the token table and of
    // its gradient. The sum of squares must contain this gradient only once, so
    // only the first stage adds it.
    if (chunk.weights->layers().first == 0) sum += *tied;
  }
  absl::Status status = mesh_->group("pp").Run(
      AllReduce(&sum, &sum, 1, DType::kFloat64, ReduceOp::kSum));
  if (!status.ok()) return status;
  return sum;
}

absl::StatusOr<double> GptPipeline::MeanOverData(absl::StatusOr<double> loss) {
  if (!loss.ok()) return loss;
  absl::Status status = mesh_->group("dp").Run(
      AllReduce(&*loss, &*loss, 1, DType::kFloat64, ReduceOp::kAvg));
  if (!status.ok()) return status;
  return loss;
}

std::vector<CheckpointSlice> GptPipeline::State() {
  std::vector<CheckpointSlice> slices;
  for (Chunk& chunk : chunks_) {
    for (int i = 0; i < static_cast<int>(chunk.weights->tensors().size());
         ++i) {
      slices.push_back(WholeTensor(chunk.weights->tensor(i)));
    }
    for (Optimizer* const optimizer :
         {chunk.optimizer.get(), chunk.tied_optimizer.get()}) {
      if (optimizer == nullptr) continue;
      for (CheckpointSlice& slice : optimizer->State()) {
        slices.push_back(std::move(slice));
      }
    }
  }
  return slices;
}

absl::StatusOr<double> GptPipeline::Evaluate() {
  auto loss = MeanOverData(runtime_->Evaluate());
  if (!loss.ok()) return Break(loss.status());
  return loss;
}

}  // namespace muster::models
