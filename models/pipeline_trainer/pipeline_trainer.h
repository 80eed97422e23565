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
#include "models/text/vocabulary.h"
#include "models/trainer/gpt_trainer.h"
#include "models/trainer/text/gpt_batches.h"
#include "trainer_sdk/process_group/process_group.h"

namespace muster::models {

// One rank's part of a pipeline-parallel training. This class chooses the data
// of each micro-batch and the learning rate; GptPipeline does the rest.
class PipelineTrainer : public ResumableTrainer {
 public:
  // Collective. InvalidArgument: the text is too short. FailedPrecondition:
  // ranks have other options or another text than rank 0. Other errors are
  // those of GptPipeline::Create.
  static absl::StatusOr<std::unique_ptr<PipelineTrainer>> Create(
      const PipelineTrainingOptions& options, PipelineSchedule schedule,
      std::shared_ptr<const Tokens> tokens, ProcessGroup& world);

  // OutOfRange: the gradient is not finite.
  absl::StatusOr<GptStep> Step(int64_t step) override;

  // Returns the mean loss over windows (sequences) from the last tenth of the
  // text, which is reserved for validation. Every call uses the same windows,
  // as many as one training step uses.
  absl::StatusOr<double> Validate() override;

  // Returns this rank's state to checkpoint. The slices' names and types are
  // those of a training without pipelines, so that a training with any other
  // number of pipelines and stages can resume.
  absl::StatusOr<std::vector<CheckpointSlice>> State() override {
    return pipeline_->State();
  }
  const GptProgress& progress() const override { return progress_; }
  absl::Status Restore(const GptProgress& progress) override;

  // The options of the equivalent training without pipelines (AsWhole).
  const GptTrainingOptions& training() const { return training_; }

  // Whether Step has been called on this object.
  bool has_stepped() const { return step_ >= 0; }
  // Returns the measured timeline of this rank's pipeline as an SVG picture.
  // Collective. Must be called after a step.
  absl::StatusOr<std::string> Picture();

 private:
  PipelineTrainer(const PipelineTrainingOptions& options,
                  const GptTrainingOptions& training,
                  std::shared_ptr<const Tokens> tokens);
  absl::Status Fill(int micro_batch, GptMicroBatch* filled);

  const PipelineTrainingOptions options_;
  const GptTrainingOptions training_;
  const GptBatches batches_;
  // Whether the current pass draws training or validation data.
  enum class Pass { kTraining, kValidation } pass_ = Pass::kTraining;
  // The number of the last step; -1: none.
  int64_t step_ = -1;
  GptProgress progress_;
  std::unique_ptr<GptPipeline> pipeline_;
};

}  // namespace muster::models

#endif  // MUSTER_MODELS_PIPELINE_TRAINER_PIPELINE_TRAINER_H_
