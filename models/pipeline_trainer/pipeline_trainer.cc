#include "models/pipeline_trainer/pipeline_trainer.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "models/pipeline_trainer/pipeline_options.h"
#include "models/trainer/training_options.h"
#include "trainer_sdk/optim/step_plan.h"
#include "trainer_sdk/pipeline/runtime/pipeline_runtime.h"
#include "trainer_sdk/pipeline/schedule/schedule_svg.h"

namespace muster::models {

PipelineTrainer::PipelineTrainer(const PipelineTrainingOptions& options,
                                 const GptTrainingOptions& training,
                                 std::shared_ptr<const Tokens> tokens)
    : options_(options),
      training_(training),
      batches_(std::move(tokens), training.seed, training.batch,
               training.model.context) {
  // A training with pipelines uses no loss scale. But its checkpoints contain
  // one, because they have the same form as those of a training without
  // pipelines.
  progress_.scaler = LossScaler(training.loss_scale).state();
}

absl::StatusOr<std::unique_ptr<PipelineTrainer>> PipelineTrainer::Create(
    const PipelineTrainingOptions& options, PipelineSchedule schedule,
    std::shared_ptr<const Tokens> tokens, ProcessGroup& world) {
  const GptTrainingOptions training =
      AsWhole(options, schedule.shape, world.size());
  std::unique_ptr<PipelineTrainer> trainer(
      new PipelineTrainer(options, training, std::move(tokens)));
  absl::Status wrong = training.model.Check();
  if (wrong.ok()) wrong = trainer->batches_.Check();
  if (wrong.ok()) {
    wrong = CheckSameHyperparameters(
        world, absl::StrCat(DescribeHyperparameters(training),
                            DescribeJointWork(training),
                            DescribeSplit(options, schedule)));
  }
  if (!wrong.ok()) return wrong;
  GptPipelineOptions pipeline;
  pipeline.model = training.model;
  pipeline.batch = training.batch;
  pipeline.time = training.model.context;
  pipeline.checkpointing = training.checkpointing;
  pipeline.seed = training.seed;
  pipeline.rule = AdamWRule(training.adamw);
  pipeline.state = training.sharding == GptTrainingOptions::Sharding::kZero1
                       ? GptPipelineOptions::State::kSharded
                       : GptPipelineOptions::State::kReplicated;
  pipeline.clip = training.clip;
  auto made = GptPipeline::Create(
      world, std::move(schedule), pipeline,
      [self = trainer.get()](int micro_batch, GptMicroBatch* filled) {
        return self->Fill(micro_batch, filled);
      });
  if (!made.ok()) return made.status();
  trainer->pipeline_ = *std::move(made);
  return trainer;
}

absl::Status PipelineTrainer::Fill(int micro_batch, GptMicroBatch* filled) {
  const int64_t number =
      int64_t{pipeline_->data_rank()} *
          pipeline_->runtime().schedule().shape.micro_batches +
      micro_batch;
  auto drawn = pass_ == Pass::kTraining ? batches_.Training(step_, number)
                                        : batches_.Validation(number);
  if (!drawn.ok()) return drawn.status();
  filled->tokens = std::move(drawn->tokens);
  filled->targets = std::move(drawn->targets);
  return absl::OkStatus();
}

absl::StatusOr<GptStep> PipelineTrainer::Step(int64_t step) {
  pass_ = Pass::kTraining;
  step_ = step;
  const double learning_rate = training_.learning_rate.At(step);
  const auto done = pipeline_->Step(
      {.step = ++progress_.updates, .learning_rate = learning_rate});
  if (!done.ok()) return done.status();
  return GptStep{.loss = done->loss,
                 .learning_rate = learning_rate,
                 .gradient_norm = done->gradient_norm};
}

absl::Status PipelineTrainer::Restore(const GptProgress& progress) {
  progress_ = progress;
  return absl::OkStatus();
}

absl::StatusOr<double> PipelineTrainer::Validate() {
  pass_ = Pass::kValidation;
  return pipeline_->Evaluate();
}

absl::StatusOr<std::string> PipelineTrainer::Picture() {
  const auto timeline =
      MeasuredTimeline(pipeline_->runtime(), pipeline_->mesh().group("pp"));
  if (!timeline.ok()) return timeline.status();
  return DrawSchedule(
      *timeline,
      absl::StrCat(options_.schedule_csv.empty() ? options_.schedule
                                                 : options_.schedule_csv,
                   ", as measured in step ", step_ + 1));
}

}  // namespace muster::models
