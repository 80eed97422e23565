#include "trainer_sdk/examples/gpt_pipeline/pipeline_trainer.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "trainer_sdk/pipeline/runtime/measured_timeline.h"
#include "trainer_sdk/pipeline/schedule/schedule_svg.h"

namespace muster {

absl::StatusOr<std::unique_ptr<PipelineTrainer>> PipelineTrainer::Create(
    const PipelineTrainingOptions& options, PipelineSchedule schedule,
    std::shared_ptr<const Tokens> tokens, ProcessGroup& world) {
  std::unique_ptr<PipelineTrainer> trainer(
      new PipelineTrainer(options, std::move(tokens)));
  if (absl::Status wrong = trainer->batches_.Check(); !wrong.ok()) return wrong;
  GptPipelineOptions pipeline;
  pipeline.model = options.model;
  pipeline.batch = options.batch;
  pipeline.time = options.model.context;
  pipeline.seed = options.seed;
  pipeline.rule = AdamWRule(options.adamw);
  pipeline.state = options.state;
  pipeline.clip = options.clip;
  auto made = GptPipeline::Create(
      world, std::move(schedule), pipeline,
      [self = trainer.get()](int micro_batch, GptMicroBatch* filled) {
        return self->Fill(micro_batch, filled);
      });
  if (!made.ok()) return made.status();
  trainer->pipeline_ = *std::move(made);
  return trainer;
}

int64_t PipelineTrainer::micro_batches() const {
  return int64_t{pipeline_->mesh().size("dp")} *
         pipeline_->runtime().schedule().shape.micro_batches;
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

absl::StatusOr<GptPipelineStep> PipelineTrainer::Step(int64_t step) {
  pass_ = Pass::kTraining;
  step_ = step;
  return pipeline_->Step(
      {.step = step + 1, .learning_rate = learning_rate(step)});
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

}  // namespace muster
