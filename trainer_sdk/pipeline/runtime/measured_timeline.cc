#include "trainer_sdk/pipeline/runtime/measured_timeline.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "trainer_sdk/process_group/clock_lead.h"
#include "trainer_sdk/process_group/operations.h"

namespace muster {
namespace {

// A rank's computations, in order, without times.
std::vector<TimedAction> ComputationsOf(const std::vector<Action>& actions) {
  std::vector<TimedAction> computations;
  for (const Action& action : actions) {
    if (!IsCommunication(action.kind)) computations.push_back({action, 0, 0});
  }
  return computations;
}

}  // namespace

absl::StatusOr<PipelineTimeline> MeasuredTimeline(
    const PipelineRuntime& runtime, ProcessGroup& group) {
  const PipelineSchedule& schedule = runtime.schedule();
  std::vector<std::vector<TimedAction>> ranks;
  std::vector<int64_t> counts;
  size_t all = 0;
  for (const std::vector<Action>& actions : schedule.ranks) {
    ranks.push_back(ComputationsOf(actions));
    counts.push_back(2 * static_cast<int64_t>(ranks.back().size()));
    all += 2 * ranks.back().size();
  }
  const size_t mine = ranks[static_cast<size_t>(group.rank())].size();
  if (runtime.measured().size() != mine) {
    return absl::FailedPreconditionError(
        absl::StrCat(runtime.measured().size(), " passes of ", mine,
                     " were measured: no whole step"));
  }
  const absl::StatusOr<int64_t> lead = ClockLead(group);
  if (!lead.ok()) return lead.status();
  std::vector<int64_t> own;
  for (const MeasuredAction& one : runtime.measured()) {
    own.push_back(one.begin.time_since_epoch().count() - *lead);
    own.push_back(one.end.time_since_epoch().count() - *lead);
  }
  std::vector<int64_t> times(all);
  absl::Status status =
      group.Run(AllGather(own.data(), times.data(), counts, DType::kInt64));
  if (!status.ok()) return status;
  const int64_t first = *std::min_element(times.begin(), times.end());
  auto time = times.begin();
  for (std::vector<TimedAction>& actions : ranks) {
    for (TimedAction& timed : actions) {
      timed.begin = *time++ - first;
      timed.end = *time++ - first;
    }
  }
  return TimelineOf(schedule.shape, std::move(ranks));
}

}  // namespace muster
