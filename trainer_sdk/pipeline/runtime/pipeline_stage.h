#ifndef MUSTER_TRAINER_SDK_PIPELINE_RUNTIME_PIPELINE_STAGE_H_
#define MUSTER_TRAINER_SDK_PIPELINE_RUNTIME_PIPELINE_STAGE_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer_sdk/pipeline/runtime/stream_shape.h"

namespace muster {

// Whether a pass adds to the weights' gradients for the last time in a step.
enum class WeightPass { kMoreToCome, kLast };

// What a stage is told of one pass.
struct PipelinePass {
  enum class Purpose {
    kTraining,
    // Forward and loss only; nothing need be kept.
    kEvaluation,
  };

  int micro_batch = 0;
  // Which of the stage's places for activations is the micro-batch's, from its
  // forward pass to the end of its backward pass. Places are used again: their
  // number is that of micro-batches that a schedule has under way at the stage
  // at one time.
  int place = 0;
  Purpose purpose = Purpose::kTraining;
  // Of passes that add to the weights' gradients.
  WeightPass weights = WeightPass::kMoreToCome;
};

// One stage of a pipeline, in any framework: what PipelineRuntime calls, on the
// thread of its caller, in the order of the schedule. Buffers are the
// runtime's, of the size of the stage's streams, and may be used during the
// call only; null where there is no stream. A status that is not OK ends the
// pipeline for good, on all ranks.
class PipelineStage {
 public:
  virtual ~PipelineStage() = default;

  // What the stage takes and gives for one micro-batch; the same in all steps.
  // Nobody asks for the first stage's input and the last one's output.
  virtual StreamShape InputShape() const = 0;
  virtual StreamShape OutputShape() const = 0;

  // So many places for activations will be used, from 0 on. Once, before the
  // first pass.
  virtual void ReservePlaces(int places) = 0;

  // The first stage has no input, the last no output.
  virtual absl::Status Forward(const PipelinePass& pass, const void* input,
                               void* output) = 0;

  // The last stage's, right behind its forward pass: the loss of the
  // micro-batch. The backward pass is that of the loss times `factor`.
  virtual absl::StatusOr<double> Loss(const PipelinePass& pass,
                                      double factor) = 0;

  // Adds to the gradients of the weights, and gives that of the input. The
  // last stage has no output's gradient, the first gives no input's.
  virtual absl::Status Backward(const PipelinePass& pass,
                                const void* output_gradient,
                                void* input_gradient) = 0;

  // The same in two parts: what the stage before waits for first, and then, at
  // any later time, what nobody waits for.
  virtual absl::Status BackwardInput(const PipelinePass& pass,
                                     const void* output_gradient,
                                     void* input_gradient) = 0;
  virtual absl::Status BackwardWeight(const PipelinePass& pass) = 0;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PIPELINE_RUNTIME_PIPELINE_STAGE_H_
