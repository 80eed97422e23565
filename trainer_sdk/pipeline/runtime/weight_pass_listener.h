#ifndef MUSTER_TRAINER_SDK_PIPELINE_RUNTIME_WEIGHT_PASS_LISTENER_H_
#define MUSTER_TRAINER_SDK_PIPELINE_RUNTIME_WEIGHT_PASS_LISTENER_H_

#include "absl/status/status.h"
#include "trainer_sdk/pipeline/runtime/pipeline_stage.h"

namespace muster {

// Whom a stage tells of each pass that adds to its weights' gradients, such as
// those who average them over data-parallel ranks. On the pipeline's thread.
class WeightPassListener {
 public:
  virtual ~WeightPassListener() = default;

  virtual absl::Status Begin(WeightPass pass) = 0;
  // The pass adds no more to the gradient of the stage's tensor; in the last
  // pass, nobody does in this step.
  virtual absl::Status Ready(int tensor) = 0;
  virtual absl::Status End() = 0;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PIPELINE_RUNTIME_WEIGHT_PASS_LISTENER_H_
