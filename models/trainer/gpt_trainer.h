#ifndef MUSTER_MODELS_TRAINER_GPT_TRAINER_H_
#define MUSTER_MODELS_TRAINER_GPT_TRAINER_H_

#include "absl/status/statusor.h"
#include "models/gpt/gpt_weights.h"
#include "models/trainer/resumable_trainer.h"
#include "trainer_sdk/timeline/trace_events.h"

namespace muster::models {

// One rank's part of a data-parallel training on any device: it computes its
// share of each step's micro-batches, averages gradients during the backward
// pass, and runs AdamW, so that all ranks keep equal weights.
class GptTrainer : public ResumableTrainer {
 public:
  // The current weights in host memory; valid until the next call.
  virtual absl::StatusOr<GptWeights*> Weights() = 0;

  // FLOP/s of all ranks together in matrix products only, for MFU.
  virtual absl::StatusOr<double> MeasurePeak() = 0;

  // The timelines of all ranks in the last steps on rank 0; empty on other
  // ranks. FailedPrecondition: the options name no file for it.
  virtual absl::StatusOr<Timeline> GatherTimelines() = 0;
};

}  // namespace muster::models

#endif  // MUSTER_MODELS_TRAINER_GPT_TRAINER_H_
