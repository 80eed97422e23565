#ifndef MUSTER_TRAINER_SDK_PIPELINE_RUNTIME_RECORDING_STAGE_H_
#define MUSTER_TRAINER_SDK_PIPELINE_RUNTIME_RECORDING_STAGE_H_

#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "trainer_sdk/pipeline/runtime/pipeline_stage.h"
#include "trainer_sdk/pipeline/schedule/schedule.h"

namespace muster {

// A pipeline stage for tests. The outputs encode the stage's number, the
// micro-batch and the direction (forward or backward). A pass fails if its
// input is not the expected one, or if another micro-batch holds its slot for
// activations.
class RecordingStage : public PipelineStage {
 public:
  // Makes the stage with the number `stage`. The stage appends the action of
  // each of its passes to `calls`.
  RecordingStage(int stage, const PipelineShape& shape, int64_t elements,
                 std::vector<Action>* calls)
      : stage_(stage), shape_(shape), elements_(elements), calls_(calls) {}

  // Called before each pass. If this function returns an error, the pass fails
  // with the error.
  std::function<absl::Status(const Action&)> on_pass;
  // The values of `factor` passed to Loss, in call order.
  std::vector<double> factors;
  // One entry for each step: the micro-batch whose pass was the last to add to
  // the gradients of the weights.
  std::vector<int> last_weight_passes;

  StreamShape InputShape() const override { return Shape(); }
  StreamShape OutputShape() const override { return Shape(); }
  void ReserveActivationSlots(int slots) override { slots_ = slots; }

  absl::Status Forward(const PipelinePass& pass, const void* input,
                       void* output) override {
    absl::Status status = Begin(ActionKind::kForward, pass);
    if (status.ok()) status = Check(input, stage_ - 1, pass.micro_batch, 1);
    Fill(output, stage_, pass.micro_batch, 1);
    if (pass.activation_slot >= slots_ ||
        (pass.purpose == PipelinePass::Purpose::kTraining &&
         !held_.emplace(pass.activation_slot, pass.micro_batch).second)) {
      return absl::InternalError(
          absl::StrCat("slot ", pass.activation_slot, " taken"));
    }
    return status;
  }

  absl::StatusOr<double> Loss(const PipelinePass& pass,
                              double factor) override {
    factors.push_back(factor);
    return pass.micro_batch;
  }

  absl::Status Backward(const PipelinePass& pass, const void* output_gradient,
                        void* input_gradient) override {
    return BackwardAs(ActionKind::kBackward, pass, output_gradient,
                      input_gradient);
  }
  absl::Status BackwardInput(const PipelinePass& pass,
                             const void* output_gradient,
                             void* input_gradient) override {
    return BackwardAs(ActionKind::kInputBackward, pass, output_gradient,
                      input_gradient);
  }
  absl::Status BackwardWeight(const PipelinePass& pass) override {
    absl::Status status = Begin(ActionKind::kWeightBackward, pass);
    return status.ok() ? Leave(pass) : status;
  }

 private:
  // To save time, only one in kStride elements of a buffer is written and
  // checked, starting from the last element.
  static constexpr int64_t kStride = 7;

  StreamShape Shape() const {
    return {.dtype = DType::kInt32, .sizes = {elements_}};
  }

  absl::Status BackwardAs(ActionKind kind, const PipelinePass& pass,
                          const void* output_gradient, void* input_gradient) {
    absl::Status status = Begin(kind, pass);
    if (status.ok()) {
      status = Check(output_gradient, stage_ + 1, pass.micro_batch, -1);
    }
    Fill(input_gradient, stage_, pass.micro_batch, -1);
    if (!status.ok()) return status;
    const auto held = held_.find(pass.activation_slot);
    if (held == held_.end() || held->second != pass.micro_batch) {
      return absl::InternalError("not in its slot");
    }
    return kind == ActionKind::kBackward ? Leave(pass) : absl::OkStatus();
  }

  absl::Status Begin(ActionKind kind, const PipelinePass& pass) {
    const Action action{stage_, kind, pass.micro_batch};
    calls_->push_back(action);
    return on_pass ? on_pass(action) : absl::OkStatus();
  }

  absl::Status Leave(const PipelinePass& pass) {
    if (pass.weights == WeightPass::kLast) {
      last_weight_passes.push_back(pass.micro_batch);
    }
    return held_.erase(pass.activation_slot) == 1
               ? absl::OkStatus()
               : absl::InternalError("a slot that is free");
  }

  int32_t Element(int stage, int micro_batch, int sign, int64_t i) const {
    return static_cast<int32_t>(
        sign * (1 + (stage * shape_.micro_batches + micro_batch) * 1000 + i));
  }

  // Checks that `from` has the data that `stage` writes for `micro_batch`. If
  // the pipeline has no such stage, `from` must be null.
  absl::Status Check(const void* from, int stage, int micro_batch,
                     int sign) const {
    const bool end = stage < 0 || stage >= shape_.stages();
    if ((from == nullptr) != end) return absl::InternalError("null or not");
    for (int64_t i = elements_ - 1; !end && i >= 0; i -= kStride) {
      int32_t element;
      std::memcpy(&element, static_cast<const char*>(from) + i * 4, 4);
      if (element == Element(stage, micro_batch, sign, i)) continue;
      return absl::InternalError(absl::StrCat("element ", i, " is ", element));
    }
    return absl::OkStatus();
  }

  void Fill(void* to, int stage, int micro_batch, int sign) const {
    for (int64_t i = elements_ - 1; to != nullptr && i >= 0; i -= kStride) {
      const int32_t element = Element(stage, micro_batch, sign, i);
      std::memcpy(static_cast<char*>(to) + i * 4, &element, 4);
    }
  }

  const int stage_;
  const PipelineShape shape_;
  const int64_t elements_;
  std::vector<Action>* const calls_;
  int slots_ = 0;
  // Key: a slot for activations; value: the micro-batch that holds the slot.
  std::map<int, int> held_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PIPELINE_RUNTIME_RECORDING_STAGE_H_
