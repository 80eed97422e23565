#include "trainer_sdk/optim/replicated_optimizer.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/check.h"
#include "trainer_sdk/optim/square_sum.h"

namespace muster {
namespace {

std::vector<ParameterRange> WholeOf(const std::vector<Tensor>& parameters) {
  std::vector<ParameterRange> ranges;
  for (size_t i = 0; i < parameters.size(); ++i) {
    ranges.push_back({static_cast<int>(i), 0, parameters[i].count()});
  }
  return ranges;
}

}  // namespace

ReplicatedOptimizer::ReplicatedOptimizer(std::shared_ptr<const UpdateRule> rule,
                                         std::vector<Tensor> parameters,
                                         GradientSource gradients,
                                         Device& device)
    : gradients_(std::move(gradients)),
      shard_(std::move(rule), parameters, WholeOf(parameters), device) {
  MUSTER_CHECK(gradients_ != nullptr) << "an optimizer without gradients";
}

absl::Status ReplicatedOptimizer::CheckGradients() const {
  if (!shard_.status().ok()) return shard_.status();
  for (const ParameterRange& range : shard_.ranges()) {
    const Tensor& parameter = shard_.parameters()[range.parameter];
    const TensorData gradient = gradients_(range.parameter);
    if (gradient.count != parameter.count()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "parameter '", parameter.name, "' has the shape [",
          absl::StrJoin(parameter.shape, ","), "], ", parameter.count(),
          " elements, and a gradient of ", gradient.count));
    }
    if (gradient.data == nullptr && range.count() > 0) {
      return absl::FailedPreconditionError(absl::StrCat(
          "this rank does not have all of the gradient of parameter '",
          parameter.name,
          "': behind a reducer that was made with ForSharding each rank has "
          "the average of its part, which a ShardedOptimizer takes"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<double> ReplicatedOptimizer::SumOfSquares() {
  if (absl::Status wrong = CheckGradients(); !wrong.ok()) return wrong;
  std::vector<TensorData> gradients;
  for (const ParameterRange& range : shard_.ranges()) {
    gradients.push_back(gradients_(range.parameter));
  }
  const auto words = shard_.SquaresOf(gradients);
  if (!words.ok()) return words.status();
  return SquareSum::Value(*words);
}

absl::Status ReplicatedOptimizer::Step(const OptimizerStep& step) {
  if (absl::Status wrong = CheckStep(step); !wrong.ok()) return wrong;
  if (absl::Status wrong = CheckGradients(); !wrong.ok()) return wrong;
  for (const ParameterRange& range : shard_.ranges()) {
    shard_.Update(step, range.parameter, gradients_(range.parameter));
  }
  return shard_.device().status();
}

absl::Status ReplicatedOptimizer::OnStateLoaded() {
  if (!shard_.status().ok()) return shard_.status();
  shard_.TakeState();
  for (const ParameterRange& range : shard_.ranges()) {
    shard_.WriteValues(range.parameter);
  }
  return shard_.device().status();
}

}  // namespace muster
