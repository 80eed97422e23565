#ifndef MUSTER_MODELS_TRAINER_GPT_TRAINER_H_
#define MUSTER_MODELS_TRAINER_GPT_TRAINER_H_

#include "absl/status/statusor.h"
#include "models/gpt/gpt_weights.h"
#include "models/trainer/resumable_trainer.h"
#include "trainer_sdk/timeline/trace_events.h"

namespace muster {

// One rank's part of a data-parallel training, wherever it computes: its share
// of each step's micro-batches, gradients averaged while the backward pass
// makes them, AdamW, so that all ranks keep the same weights.
class GptTrainer : public ResumableTrainer {
 public:
  // The weights as they are now, in the host's memory; valid until the next
  // call.
  virtual absl::StatusOr<GptWeights*> Weights() = 0;

  // FLOP/s of all ranks together in matrix products alone, for MFU.
  virtual absl::StatusOr<double> MeasurePeak() = 0;

  // What all ranks did in the last steps, on rank 0; elsewhere without ranks.
  // FailedPrecondition: the options name no file for it.
  virtual absl::StatusOr<Timeline> GatherTimelines() = 0;
};

}  // namespace muster

#endif  // MUSTER_MODELS_TRAINER_GPT_TRAINER_H_
