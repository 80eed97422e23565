#include "trainer_sdk/optim/replicated_optimizer.h"

#include <utility>

#include "trainer_sdk/optim/square_sum.h"

namespace muster {
namespace {

std::vector<ParameterRange> WholeOf(
    const std::vector<OptimizerParameter>& parameters) {
  std::vector<ParameterRange> ranges;
  for (size_t i = 0; i < parameters.size(); ++i) {
    ranges.push_back({static_cast<int>(i), 0, parameters[i].count()});
  }
  return ranges;
}

}  // namespace

ReplicatedOptimizer::ReplicatedOptimizer(
    std::shared_ptr<const UpdateRule> rule,
    std::vector<OptimizerParameter> parameters, GradientSource gradients)
    : gradients_(std::move(gradients)),
      shard_(std::move(rule), parameters, WholeOf(parameters)) {}

absl::StatusOr<double> ReplicatedOptimizer::SumOfSquares() {
  SquareSum sum;
  for (const ParameterRange& range : shard_.ranges()) {
    sum.Add(gradients_(range.parameter), range.count());
  }
  return SquareSum::Value(sum.words());
}

absl::Status ReplicatedOptimizer::Step(const OptimizerStep& step) {
  for (const ParameterRange& range : shard_.ranges()) {
    shard_.Update(step, range.parameter, gradients_(range.parameter));
  }
  return absl::OkStatus();
}

absl::Status ReplicatedOptimizer::OnStateLoaded() {
  for (const ParameterRange& range : shard_.ranges()) {
    shard_.WriteValues(range.parameter);
  }
  return absl::OkStatus();
}

}  // namespace muster
