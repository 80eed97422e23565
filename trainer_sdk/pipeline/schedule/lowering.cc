#include "trainer_sdk/pipeline/schedule/lowering.h"

#include <cstddef>
#include <optional>
#include <vector>

#include "base/check.h"
#include "trainer_sdk/pipeline/schedule/dependencies.h"
#include "trainer_sdk/pipeline/schedule/validator.h"

namespace muster {

absl::StatusOr<PipelineSchedule> AddCommunication(
    const PipelineSchedule& schedule) {
  if (absl::Status status = CheckComputations(schedule); !status.ok()) {
    return status;
  }
  const PipelineShape& shape = schedule.shape;
  PipelineSchedule lowered{.shape = shape, .ranks = {}};
  lowered.ranks.resize(schedule.ranks.size());
  Milestones milestones(shape);
  std::vector<size_t> next(schedule.ranks.size(), 0);
  for (bool all_through = false; !all_through;) {
    all_through = true;
    bool moved = false;
    // The actions performed in this round of the simulation. In each round,
    // every rank performs its next action if the inputs of that action were
    // available before the round.
    std::vector<Action> done;
    for (int rank = 0; rank < shape.ranks; ++rank) {
      if (next[rank] == schedule.ranks[rank].size()) continue;
      all_through = false;
      const Action& action = schedule.ranks[rank][next[rank]];
      if (!milestones.AllReached(NeedsOf(action, shape), action.micro_batch)) {
        continue;
      }
      ++next[rank];
      moved = true;
      lowered.ranks[rank].push_back(action);
      done.push_back(action);
    }
    MUSTER_CHECK(moved || all_through);
    for (const Action& action : done) {
      milestones.Reach(action);
      const std::optional<Message> message = MessageAfter(action, shape);
      if (!message) continue;
      lowered.ranks[shape.RankOf(action.stage)].push_back(message->send);
      lowered.ranks[shape.RankOf(message->receive.stage)].push_back(
          message->receive);
    }
  }
  return lowered;
}

}  // namespace muster
