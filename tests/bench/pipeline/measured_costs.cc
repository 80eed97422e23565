#include "tests/bench/pipeline/measured_costs.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

namespace muster {
namespace {

// The median, or the lower one of two middle values; 0 if there are no values.
int64_t Median(std::vector<int64_t> values) {
  if (values.empty()) return 0;
  const size_t middle = (values.size() - 1) / 2;
  std::nth_element(values.begin(),
                   values.begin() + static_cast<std::ptrdiff_t>(middle),
                   values.end());
  return values[middle];
}

}  // namespace

PipelineCosts MeasuredCosts(const std::vector<PipelineTimeline>& steps) {
  std::map<std::pair<int, ActionKind>, std::vector<int64_t>> passes;
  int stages = 0;
  for (const PipelineTimeline& step : steps) {
    stages = step.shape.stages();
    for (const std::vector<TimedAction>& actions : step.ranks) {
      for (const auto& [action, begin, end] : actions) {
        passes[{action.stage, action.kind}].push_back(end - begin);
      }
    }
  }
  PipelineCosts costs;
  costs.stages.clear();
  for (int stage = 0; stage < stages; ++stage) {
    const auto median = [&](ActionKind kind) {
      return Median(passes[{stage, kind}]);
    };
    const int64_t whole = median(ActionKind::kBackward);
    costs.stages.push_back(
        {.forward = median(ActionKind::kForward),
         .input_backward = whole / 2 + median(ActionKind::kInputBackward),
         .weight_backward =
             whole - whole / 2 + median(ActionKind::kWeightBackward)});
  }
  return costs;
}

}  // namespace muster
