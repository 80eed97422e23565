#ifndef MUSTER_TRAINER_SDK_PIPELINE_RUNTIME_WEIGHT_PASS_LISTENER_H_
#define MUSTER_TRAINER_SDK_PIPELINE_RUNTIME_WEIGHT_PASS_LISTENER_H_

#include "absl/status/status.h"
#include "trainer_sdk/pipeline/runtime/pipeline_stage.h"

namespace muster {

// Receives the events of each pass that adds to a stage's weight gradients; for
// example, to average them over data-parallel ranks. Called on the pipeline's
// thread.
class WeightPassListener {
 public:
  virtual ~WeightPassListener() = default;

  virtual absl::Status Begin(WeightPass pass) = 0;
  // This pass adds no more to the gradient of the stage's tensor `tensor`. In
  // the last pass, the gradient is then complete for this step.
  virtual absl::Status Ready(int tensor) = 0;
  virtual absl::Status End() = 0;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PIPELINE_RUNTIME_WEIGHT_PASS_LISTENER_H_
