#include "tests/bench/pipeline/stage_times.h"

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "base/monotonic_clock.h"
#include "tests/bench/pipeline/measured_costs.h"
#include "trainer_sdk/pipeline/runtime/rank_plan.h"
#include "trainer_sdk/process_group/operations.h"

namespace muster {
namespace {

// Runs one forward or backward pass of a stage on arbitrary data.
absl::Status Perform(const PlannedAction& planned, int stages,
                     PipelineStage& stage, std::vector<float>& in,
                     std::vector<float>& out) {
  const auto& [action, pass] = planned;
  const bool first = action.stage == 0;
  const bool last = action.stage + 1 == stages;
  switch (action.kind) {
    case ActionKind::kForward: {
      const absl::Status status = stage.Forward(
          pass, first ? nullptr : in.data(), last ? nullptr : out.data());
      return status.ok() && last ? stage.Loss(pass, 1).status() : status;
    }
    case ActionKind::kBackward:
      return stage.Backward(pass, last ? nullptr : in.data(),
                            first ? nullptr : out.data());
    case ActionKind::kInputBackward:
      return stage.BackwardInput(pass, last ? nullptr : in.data(),
                                 first ? nullptr : out.data());
    default:
      return stage.BackwardWeight(pass);
  }
}

}  // namespace

absl::StatusOr<PipelineCosts> MeasureStagesAlone(
    ProcessGroup& group, const PipelineSchedule& lowered,
    const std::vector<PipelineStage*>& stages) {
  const PipelineShape& shape = lowered.shape;
  const auto count = static_cast<size_t>(stages[0]->InputShape().count());
  std::vector<float> in(count, 0.01f);
  std::vector<float> out(count);
  if (absl::Status status = group.Run(Barrier()); !status.ok()) return status;
  std::vector<TimedAction> timed;
  for (const PlannedAction& planned :
       PlanRank(lowered, group.rank(), PipelinePass::Purpose::kTraining)
           .actions) {
    if (IsCommunication(planned.action.kind)) continue;
    const Instant begin = MonotonicNow();
    absl::Status status = Perform(
        planned, shape.stages(),
        *stages[static_cast<size_t>(planned.action.stage / shape.ranks)], in,
        out);
    if (!status.ok()) return status;
    timed.push_back({planned.action, begin.time_since_epoch().count(),
                     MonotonicNow().time_since_epoch().count()});
  }
  const PipelineCosts own = MeasuredCosts({TimelineOf(shape, {timed})});
  std::vector<int64_t> numbers;
  for (const StageCost& cost : own.stages) {
    numbers.push_back(cost.forward);
    numbers.push_back(cost.input_backward);
    numbers.push_back(cost.weight_backward);
  }
  // Each rank has measured its own stages and has 0 for the others. So the sum
  // over all ranks gives every rank all times.
  absl::Status status =
      group.Run(AllReduce(numbers.data(), numbers.data(),
                          static_cast<int64_t>(numbers.size()), DType::kInt64));
  if (!status.ok()) return status;
  PipelineCosts all;
  all.stages.clear();
  for (size_t i = 0; i < numbers.size(); i += 3) {
    all.stages.push_back({numbers[i], numbers[i + 1], numbers[i + 2]});
  }
  return all;
}

}  // namespace muster
