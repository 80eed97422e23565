#ifndef MUSTER_TRAINER_SDK_PIPELINE_RUNTIME_PIPELINE_STAGE_H_
#define MUSTER_TRAINER_SDK_PIPELINE_RUNTIME_PIPELINE_STAGE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "trainer_sdk/process_group/dtype.h"

namespace muster {

// The shape of the data of one micro-batch that passes from a stage to the
// next. The gradient that passes back has the same shape.
struct StreamShape {
  DType dtype = DType::kFloat32;
  // The sizes of the dimensions in row-major order; at most kMaxDimensions.
  std::vector<int64_t> sizes;

  static constexpr int kMaxDimensions = 8;

  int64_t count() const {
    int64_t count = 1;
    for (const int64_t size : sizes) count *= size;
    return count;
  }
  int64_t bytes() const { return count() * SizeOf(dtype); }

  bool operator==(const StreamShape&) const = default;
};

// Formats a shape as text. Example: "float32[12, 64, 128]".
inline std::string ToString(const StreamShape& shape) {
  return absl::StrCat(Name(shape.dtype), "[", absl::StrJoin(shape.sizes, ", "),
                      "]");
}

// Whether a pass of a stage is the last pass in the step that adds to the
// gradients of the stage's weights (kLast) or any other pass (kMoreToCome).
enum class WeightPass { kMoreToCome, kLast };

// The arguments of one pass of a stage.
struct PipelinePass {
  enum class Purpose {
    kTraining,
    // The pass is part of an evaluation. Only the forward passes and the loss
    // are computed, so activations need not be kept.
    kEvaluation,
  };

  int micro_batch = 0;
  // Index of the stage's slot (a set of buffers) for the activations of this
  // micro-batch. The slot is reserved from the forward pass to the end of the
  // backward pass and is then reused. There are as many slots as the schedule
  // has micro-batches in flight at the stage.
  int activation_slot = 0;
  Purpose purpose = Purpose::kTraining;
  // kLast if this is the step's last pass that adds to the gradients of the
  // stage's weights. All other passes have kMoreToCome, even those that add
  // nothing to these gradients.
  WeightPass weights = WeightPass::kMoreToCome;
};

// One stage of a pipeline, in any framework. PipelineRuntime calls its methods
// on the thread that calls the runtime, in the order of the schedule. Buffers
// belong to the runtime, have the size of the stage's input or output and are
// valid during the call only. A buffer is null where the stage has no
// neighbour. An error breaks the pipeline permanently, on all ranks.
class PipelineStage {
 public:
  virtual ~PipelineStage() = default;

  // The shapes of the stage's input and output for one micro-batch, the same in
  // all steps. The input shape of the first stage and the output shape of the
  // last stage are not used.
  virtual StreamShape InputShape() const = 0;
  virtual StreamShape OutputShape() const = 0;

  // Reserves memory for the activations of `slots` micro-batches, numbered
  // from 0. Called once, before the first pass.
  virtual void ReserveActivationSlots(int slots) = 0;

  // Computes the stage's output. `input` is null for the first stage, `output`
  // for the last stage.
  virtual absl::Status Forward(const PipelinePass& pass, const void* input,
                               void* output) = 0;

  // Returns the loss of the micro-batch. Called on the last stage only,
  // directly after its forward pass. The backward pass must compute the
  // gradient of the loss times `factor`.
  virtual absl::StatusOr<double> Loss(const PipelinePass& pass,
                                      double factor) = 0;

  // Adds to the gradients of the stage's weights, and writes the gradient of
  // the stage's input. `output_gradient` is null for the last stage,
  // `input_gradient` for the first stage.
  virtual absl::Status Backward(const PipelinePass& pass,
                                const void* output_gradient,
                                void* input_gradient) = 0;

  // The two parts of a backward pass. BackwardInput computes the gradient of
  // the input, for which the previous stage waits. BackwardWeight is called at
  // any later time and adds to the gradients of the weights, for which no stage
  // waits.
  virtual absl::Status BackwardInput(const PipelinePass& pass,
                                     const void* output_gradient,
                                     void* input_gradient) = 0;
  virtual absl::Status BackwardWeight(const PipelinePass& pass) = 0;
};

// The runtime calls a listener in each pass that adds to the gradients of a
// stage's weights. A listener may average these gradients over data-parallel
// ranks, for example. Called on the thread that calls the runtime.
class WeightPassListener {
 public:
  virtual ~WeightPassListener() = default;

  virtual absl::Status Begin(WeightPass pass) = 0;
  // Called during a pass, when the pass adds nothing more to the gradient of
  // the stage's tensor number `tensor`. In the step's last pass
  // (WeightPass::kLast), that gradient is then complete.
  virtual absl::Status Ready(int tensor) = 0;
  virtual absl::Status End() = 0;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PIPELINE_RUNTIME_PIPELINE_STAGE_H_
