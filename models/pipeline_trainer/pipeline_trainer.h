#ifndef MUSTER_MODELS_PIPELINE_TRAINER_PIPELINE_TRAINER_H_
#define MUSTER_MODELS_PIPELINE_TRAINER_PIPELINE_TRAINER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "models/gpt/gpt_pipeline.h"
#include "models/pipeline_trainer/pipeline_options.h"
#include "models/text/tokens.h"
#include "models/trainer/resumable_trainer.h"
#include "models/trainer/text/gpt_batches.h"
#include "trainer_sdk/process_group/process_group.h"

namespace muster {

// One rank's part of a training by pipelines: which data each micro-batch is,
// and the learning rate. The rest is GptPipeline's.
class PipelineTrainer : public ResumableTrainer {
 public:
  // Collective. InvalidArgument: the text is too short. FailedPrecondition:
  // ranks have other options than rank 0, or another text. Others are
  // GptPipeline's.
  static absl::StatusOr<std::unique_ptr<PipelineTrainer>> Create(
      const PipelineTrainingOptions& options, PipelineSchedule schedule,
      std::shared_ptr<const Tokens> tokens, ProcessGroup& world);

  // OutOfRange: the gradient is no number.
  absl::StatusOr<GptStep> Step(int64_t step) override;

  // The mean loss over a step's number of windows of the text's last tenth, the
  // same ones each time.
  absl::StatusOr<double> Validate() override;

  // Names and types are those of a training without pipelines, whatever the
  // split.
  absl::StatusOr<std::vector<CheckpointSlice>> State() override {
    return pipeline_->State();
  }
  const GptProgress& progress() const override { return progress_; }
  absl::Status Restore(const GptProgress& progress) override;

  // AsWhole, here.
  const GptTrainingOptions& training() const { return training_; }

  // Whether any step was done here.
  bool has_stepped() const { return step_ >= 0; }
  // Collective, after a step: how the pipeline of this rank did it, as SVG.
  absl::StatusOr<std::string> Picture();

 private:
  PipelineTrainer(const PipelineTrainingOptions& options,
                  const GptTrainingOptions& training,
                  std::shared_ptr<const Tokens> tokens);
  absl::Status Fill(int micro_batch, GptMicroBatch* filled);

  const PipelineTrainingOptions options_;
  const GptTrainingOptions training_;
  const GptBatches batches_;
  // What the pipeline is doing.
  enum class Pass { kTraining, kValidation } pass_ = Pass::kTraining;
  // The last one; -1: none.
  int64_t step_ = -1;
  GptProgress progress_;
  std::unique_ptr<GptPipeline> pipeline_;
};

}  // namespace muster

#endif  // MUSTER_MODELS_PIPELINE_TRAINER_PIPELINE_TRAINER_H_
