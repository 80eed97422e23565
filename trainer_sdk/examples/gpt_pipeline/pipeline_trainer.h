#ifndef MUSTER_TRAINER_SDK_EXAMPLES_GPT_PIPELINE_PIPELINE_TRAINER_H_
#define MUSTER_TRAINER_SDK_EXAMPLES_GPT_PIPELINE_PIPELINE_TRAINER_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer_sdk/data/tokens.h"
#include "trainer_sdk/examples/gpt/gpt_batches.h"
#include "trainer_sdk/examples/gpt_pipeline/pipeline_options.h"
#include "trainer_sdk/gpt/gpt_pipeline.h"
#include "trainer_sdk/process_group/process_group.h"

namespace muster {

// One rank's part of a training by pipelines: which data each micro-batch is,
// and the learning rate. The rest is GptPipeline's.
class PipelineTrainer {
 public:
  // Collective. InvalidArgument: the text is too short; others are
  // GptPipeline's.
  static absl::StatusOr<std::unique_ptr<PipelineTrainer>> Create(
      const PipelineTrainingOptions& options, PipelineSchedule schedule,
      std::shared_ptr<const Tokens> tokens, ProcessGroup& world);

  // Steps count from 0.
  absl::StatusOr<GptPipelineStep> Step(int64_t step);

  // The mean loss over a step's number of windows of the text's last tenth, the
  // same ones each time.
  absl::StatusOr<double> Validate();

  double learning_rate(int64_t step) const {
    return options_.learning_rate.At(step);
  }
  // Of all pipelines, in a step.
  int64_t micro_batches() const;

  // Collective, after a step: how the pipeline of this rank did it, as SVG.
  absl::StatusOr<std::string> Picture();

 private:
  PipelineTrainer(const PipelineTrainingOptions& options,
                  std::shared_ptr<const Tokens> tokens)
      : options_(options),
        batches_(std::move(tokens), options.seed, options.batch,
                 options.model.context) {}
  absl::Status Fill(int micro_batch, GptMicroBatch* filled);

  const PipelineTrainingOptions options_;
  const GptBatches batches_;
  // What the pipeline is doing.
  enum class Pass { kTraining, kValidation } pass_ = Pass::kTraining;
  int64_t step_ = 0;
  std::unique_ptr<GptPipeline> pipeline_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_EXAMPLES_GPT_PIPELINE_PIPELINE_TRAINER_H_
