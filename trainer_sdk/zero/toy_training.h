#ifndef MUSTER_TRAINER_SDK_ZERO_TOY_TRAINING_H_
#define MUSTER_TRAINER_SDK_ZERO_TOY_TRAINING_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "trainer_sdk/ddp/reducer.h"
#include "trainer_sdk/optim/replicated_optimizer.h"
#include "trainer_sdk/optim/step_plan.h"
#include "trainer_sdk/process_group/process_group.h"
#include "trainer_sdk/zero/scatter_hook.h"
#include "trainer_sdk/zero/sharded_optimizer.h"

namespace muster {

// The plan of a training run without a model, for tests. Gradients are computed
// from the weights, so that a single wrong weight makes all later weights
// wrong.
struct ToyPlan {
  std::vector<int64_t> counts = {10, 100, 1, 0, 33, 64, 7};
  std::shared_ptr<const UpdateRule> rule = AdamWRule({});
  enum class State { kReplicated, kSharded } state = State::kReplicated;
  DType precision = DType::kFloat32;
  // The number of micro-batches in a step, of all ranks together.
  int micro_batches = 12;
  // The kind of the gradients. kReal: any real numbers. kWhole: integers, whose
  // sums and averages are exact for any number of ranks.
  enum class Gradients { kReal, kWhole } gradients = Gradients::kReal;
  double clip = 0;
  std::optional<LossScalerOptions> loss_scale = {};
  DdpOptions ddp{.limits = {.first_bytes = 64, .bytes = 256}};
};

// The gradient of element `k` of a parameter; the element's current value is
// `value`.
inline double ToyGradient(float value, int micro_batch, int step, size_t k) {
  return std::sin(3 * double{value} + micro_batch + 0.1 * step +
                  static_cast<double>(k));
}

// The initial value of element `k` of parameter `i`.
inline float ToyValue(size_t i, size_t k) {
  return static_cast<float>(
      std::cos(0.3 * static_cast<double>(k) + static_cast<double>(i)));
}

// One rank of the training run that a ToyPlan describes.
class ToyTraining {
 public:
  static absl::StatusOr<std::unique_ptr<ToyTraining>> Create(
      const ToyPlan& plan, ProcessGroup& group) {
    std::unique_ptr<ToyTraining> toy(new ToyTraining(plan, group));
    absl::Status status = toy->Prepare();
    if (!status.ok()) return status;
    return toy;
  }

  // Runs step `step`, counted from 0. Returns Optimizer::SumOfSquares of the
  // gradients. If the sum is not finite, only the loss scale changes.
  absl::StatusOr<double> Step(int step) {
    const int mine = plan_.micro_batches / group_.size();
    for (size_t i = 0; i < values_.size(); ++i) {
      std::fill_n(static_cast<float*>(reducer_->gradient(static_cast<int>(i))),
                  values_[i].size(), 0.0f);
    }
    absl::Status status;
    for (int n = 0; n < mine && status.ok(); ++n) {
      status = Pass(
          step, group_.rank() * mine + n,
          n + 1 < mine ? GradientSync::kAccumulate : GradientSync::kReduce);
    }
    if (!status.ok()) return status;
    const absl::StatusOr<double> squares = optimizer_->SumOfSquares();
    if (!squares.ok()) return squares;
    const StepPlan plan =
        PlanStep(*squares, plan_.clip, scaler_ ? &*scaler_ : nullptr);
    if (plan.verdict == LossScaler::Verdict::kSkip) return squares;
    status = optimizer_->Step({.step = ++updates_,
                               .learning_rate = 0.05,
                               .gradient_factor = plan.gradient_factor});
    if (!status.ok()) return status;
    return squares;
  }

  const std::vector<std::vector<float>>& values() const { return values_; }
  std::vector<std::vector<float>>& values() { return values_; }
  Optimizer& optimizer() { return *optimizer_; }
  double loss_scale() const { return scaler_ ? scaler_->scale() : 1; }
  // Sets the number of updates done so far, not counting skipped steps. Used
  // after a checkpoint was loaded.
  void set_updates(int64_t updates) { updates_ = updates; }

 private:
  ToyTraining(const ToyPlan& plan, ProcessGroup& group)
      : plan_(plan), group_(group) {
    if (plan.loss_scale) scaler_.emplace(*plan.loss_scale);
    for (size_t i = 0; i < plan.counts.size(); ++i) {
      const auto count = static_cast<size_t>(plan.counts[i]);
      gradients_.emplace_back(count);
      values_.emplace_back(count);
      for (size_t k = 0; k < count; ++k) {
        values_[i][k] = ToyValue(i, k);
      }
    }
  }

  absl::Status Prepare() {
    std::vector<Tensor> tensors;
    for (size_t i = 0; i < values_.size(); ++i) {
      tensors.push_back(
          {.name = absl::StrCat("p", i),
           .shape = {plan_.counts[i]},
           .value = values_[i],
           .gradient = gradients_[i],
           .decay = i % 2 == 0 ? WeightDecay::kApplied : WeightDecay::kNone,
           .precision = plan_.precision});
    }
    DdpOptions options = plan_.ddp;
    if (plan_.precision != DType::kFloat32) {
      options.narrow_to = plan_.precision;
    }
    const bool sharded = plan_.state == ToyPlan::State::kSharded;
    auto reducer = Reducer::Create(group_, tensors,
                                   sharded ? ForSharding(options) : options);
    if (!reducer.ok()) return reducer.status();
    reducer_ = *std::move(reducer);
    if (!sharded) {
      optimizer_ = std::make_unique<ReplicatedOptimizer>(
          plan_.rule, tensors, [this](int i) { return reducer_->average(i); });
      return absl::OkStatus();
    }
    auto optimizer =
        ShardedOptimizer::Create(group_, *reducer_, plan_.rule, tensors);
    if (!optimizer.ok()) return optimizer.status();
    optimizer_ = *std::move(optimizer);
    return absl::OkStatus();
  }

  absl::Status Pass(int step, int micro_batch, GradientSync sync) {
    absl::Status status = reducer_->Begin(sync);
    for (int i = static_cast<int>(values_.size()) - 1; i >= 0 && status.ok();
         --i) {
      float* const gradient = static_cast<float*>(reducer_->gradient(i));
      for (size_t k = 0; k < values_[i].size(); ++k) {
        double value = ToyGradient(values_[i][k], micro_batch, step, k);
        if (plan_.gradients == ToyPlan::Gradients::kWhole) {
          // Makes each gradient a multiple of the number of ranks, so that the
          // average over the ranks is an integer.
          value = std::round(10 * value) * group_.size();
        }
        gradient[k] += static_cast<float>(value * loss_scale());
      }
      status = reducer_->MarkReady(i);
    }
    return status.ok() ? reducer_->Finish() : status;
  }

  const ToyPlan plan_;
  ProcessGroup& group_;
  std::vector<std::vector<float>> values_;
  std::vector<std::vector<float>> gradients_;
  std::unique_ptr<Reducer> reducer_;
  std::unique_ptr<Optimizer> optimizer_;
  std::optional<LossScaler> scaler_;
  int64_t updates_ = 0;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_ZERO_TOY_TRAINING_H_
