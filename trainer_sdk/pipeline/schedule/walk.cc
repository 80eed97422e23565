#include "trainer_sdk/pipeline/schedule/walk.h"

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "trainer_sdk/pipeline/schedule/dependencies.h"

namespace muster {
namespace {

// The computation whose result `send` sends.
Action ComputationOf(const Action& send) {
  return {send.stage,
          send.kind == ActionKind::kSendForward ? ActionKind::kForward
                                                : ActionKind::kInputBackward,
          send.micro_batch};
}

// The state of a walk through all ranks' lists.
class Walk {
 public:
  Walk(const PipelineSchedule& schedule, Arrival delivery)
      : schedule_(schedule),
        delivery_(delivery),
        done_(schedule.shape),
        sent_(schedule.shape),
        next_(schedule.ranks.size(), 0) {}

  // Advances every rank as far as possible, repeatedly, until none can move.
  absl::Status ToTheEnd() {
    for (bool moved = true; moved;) {
      moved = false;
      for (int rank = 0; rank < schedule_.shape.ranks; ++rank) {
        while (MayGoOn(rank)) {
          Pass(schedule_.ranks[rank][next_[rank]++]);
          moved = true;
        }
      }
    }
    std::string stuck;
    for (int rank = 0; rank < schedule_.shape.ranks; ++rank) {
      if (next_[rank] == schedule_.ranks[rank].size()) continue;
      absl::StrAppend(&stuck, stuck.empty() ? "" : ", ", "rank ", rank, " at ",
                      ToString(schedule_.ranks[rank][next_[rank]]));
    }
    if (stuck.empty()) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat("the ranks wait for each other for ever: ", stuck));
  }

 private:
  bool MayGoOn(int rank) const {
    const std::vector<Action>& actions = schedule_.ranks[rank];
    if (next_[rank] == actions.size()) return false;
    const Action& action = actions[next_[rank]];
    if (IsCommunication(action.kind)) return true;
    for (const Need& need : NeedsOf(action, schedule_.shape)) {
      const bool near = schedule_.shape.RankOf(need.stage) == rank ||
                        delivery_ == Arrival::kAtOnce;
      if (!(near ? done_ : sent_).Reached(need, action.micro_batch)) {
        return false;
      }
    }
    return true;
  }

  void Pass(const Action& action) {
    if (!IsCommunication(action.kind)) {
      done_.Reach(action);
    } else if (action.kind == ActionKind::kSendForward ||
               action.kind == ActionKind::kSendBackward) {
      sent_.Reach(ComputationOf(action));
    }
  }

  const PipelineSchedule& schedule_;
  const Arrival delivery_;
  Milestones done_;
  Milestones sent_;
  std::vector<size_t> next_;
};

}  // namespace

absl::Status WalkToTheEnd(const PipelineSchedule& schedule, Arrival delivery) {
  return Walk(schedule, delivery).ToTheEnd();
}

}  // namespace muster
