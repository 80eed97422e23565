#include "trainer_sdk/pipeline/schedule/simulator.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "trainer_sdk/pipeline/schedule/dependencies.h"
#include "trainer_sdk/pipeline/schedule/validator.h"

namespace muster {
namespace {

// The largest accepted cost, so that sums over a schedule cannot overflow.
constexpr int64_t kMaxCost = int64_t{1} << 40;

absl::Status CheckCosts(const PipelineCosts& costs,
                        const PipelineShape& shape) {
  if (costs.stages.size() != 1 &&
      costs.stages.size() != static_cast<size_t>(shape.stages())) {
    return absl::InvalidArgumentError(
        absl::StrCat("costs of ", costs.stages.size(), " stages for ",
                     shape.stages(), "; one for all or one for each"));
  }
  int64_t least = costs.message;
  int64_t most = costs.message;
  for (const StageCost& cost : costs.stages) {
    least = std::min(
        {least, cost.forward, cost.input_backward, cost.weight_backward});
    most = std::max(
        {most, cost.forward, cost.input_backward, cost.weight_backward});
  }
  if (least < 0 || most > kMaxCost) {
    return absl::InvalidArgumentError(
        absl::StrCat("costs between ", least, " and ", most));
  }
  return absl::OkStatus();
}

int64_t CostOf(const Action& action, const PipelineCosts& costs) {
  const StageCost& cost = costs.stages.size() == 1
                              ? costs.stages[0]
                              : costs.stages[static_cast<size_t>(action.stage)];
  switch (action.kind) {
    case ActionKind::kForward:
      return cost.forward;
    case ActionKind::kInputBackward:
      return cost.input_backward;
    case ActionKind::kWeightBackward:
      return cost.weight_backward;
    default:
      return cost.input_backward + cost.weight_backward;
  }
}

constexpr int64_t kNever = -1;

// For each micro-batch at each stage, the times at which its results were
// available: its output, the gradient of its input, and its weight gradient.
// kNever: not yet.
class Times {
 public:
  explicit Times(const PipelineShape& shape)
      : micro_batches_(static_cast<size_t>(shape.micro_batches)),
        times_(static_cast<size_t>(shape.stages()) * micro_batches_,
               {kNever, kNever, kNever}) {}

  int64_t& At(const Need& need, int micro_batch) {
    return times_[static_cast<size_t>(need.stage) * micro_batches_ +
                  static_cast<size_t>(micro_batch)]
                 [static_cast<size_t>(need.milestone)];
  }

  void Reach(const Action& action, int64_t now) {
    const auto set = [&](Milestone milestone) {
      At({action.stage, milestone}, action.micro_batch) = now;
    };
    const bool whole = action.kind == ActionKind::kBackward;
    if (action.kind == ActionKind::kForward) set(Milestone::kForward);
    if (whole || action.kind == ActionKind::kInputBackward) {
      set(Milestone::kInputBackward);
    }
    if (whole || action.kind == ActionKind::kWeightBackward) {
      set(Milestone::kWeightBackward);
    }
  }

 private:
  const size_t micro_batches_;
  std::vector<std::array<int64_t, 3>> times_;
};

// The time at which all inputs of `action` are available on its rank; kNever if
// an input has not been computed yet.
int64_t ReadyAt(const Action& action, int rank, const PipelineShape& shape,
                const PipelineCosts& costs, Times& times) {
  int64_t ready = 0;
  for (const Need& need : NeedsOf(action, shape)) {
    const int64_t reached = times.At(need, action.micro_batch);
    if (reached == kNever) return kNever;
    const bool near = shape.RankOf(need.stage) == rank;
    ready = std::max(ready, reached + (near ? 0 : costs.message));
  }
  return ready;
}

int MaxHeld(const std::vector<TimedAction>& actions) {
  int held = 0;
  int most = 0;
  for (const TimedAction& timed : actions) {
    if (timed.action.kind == ActionKind::kForward)
      most = std::max(most, ++held);
    if (timed.action.kind == ActionKind::kBackward ||
        timed.action.kind == ActionKind::kWeightBackward) {
      --held;
    }
  }
  return most;
}

}  // namespace

double PipelineTimeline::BubbleOverIdeal() const {
  const int64_t ideal = *std::max_element(busy.begin(), busy.end());
  if (ideal == 0) return 0;
  return static_cast<double>(makespan - ideal) / static_cast<double>(ideal);
}

PipelineTimeline TimelineOf(const PipelineShape& shape,
                            std::vector<std::vector<TimedAction>> ranks) {
  PipelineTimeline timeline{.shape = shape,
                            .ranks = std::move(ranks),
                            .makespan = 0,
                            .busy = {},
                            .max_held = {}};
  for (const std::vector<TimedAction>& actions : timeline.ranks) {
    int64_t busy = 0;
    for (const TimedAction& timed : actions) {
      busy += timed.end - timed.begin;
      timeline.makespan = std::max(timeline.makespan, timed.end);
    }
    timeline.busy.push_back(busy);
    timeline.max_held.push_back(MaxHeld(actions));
  }
  return timeline;
}

absl::StatusOr<PipelineTimeline> Simulate(const PipelineSchedule& schedule,
                                          const PipelineCosts& costs) {
  const PipelineShape& shape = schedule.shape;
  if (absl::Status status = CheckComputations(schedule); !status.ok()) {
    return status;
  }
  if (absl::Status status = CheckCosts(costs, shape); !status.ok()) {
    return status;
  }
  std::vector<std::vector<TimedAction>> ranks(schedule.ranks.size());
  Times times(shape);
  std::vector<int64_t> free_at(schedule.ranks.size(), 0);
  for (bool moved = true; moved;) {
    moved = false;
    for (int rank = 0; rank < shape.ranks; ++rank) {
      std::vector<TimedAction>& done = ranks[rank];
      while (done.size() < schedule.ranks[rank].size()) {
        const Action& action = schedule.ranks[rank][done.size()];
        const int64_t ready = ReadyAt(action, rank, shape, costs, times);
        if (ready == kNever) break;
        const int64_t begin = std::max(ready, free_at[rank]);
        const int64_t cost = CostOf(action, costs);
        free_at[rank] = begin + cost;
        times.Reach(action, free_at[rank]);
        done.push_back({action, begin, free_at[rank]});
        moved = true;
      }
    }
  }
  for (int rank = 0; rank < shape.ranks; ++rank) {
    MUSTER_CHECK(ranks[rank].size() == schedule.ranks[rank].size());
  }
  return TimelineOf(shape, std::move(ranks));
}

}  // namespace muster
