#include "trainer_sdk/pipeline/runtime/rank_plan.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>

#include "base/check.h"

namespace muster {
namespace {

bool AddsToWeights(ActionKind kind) {
  return kind == ActionKind::kBackward || kind == ActionKind::kWeightBackward;
}

// Assigns slots for activations at one stage: each micro-batch takes the free
// slot with the lowest number, and frees it when its backward pass ends.
class ActivationSlots {
 public:
  int Take(int micro_batch) {
    if (free_.empty()) free_.insert(count_++);
    const int slot = *free_.begin();
    free_.erase(free_.begin());
    taken_.emplace(micro_batch, slot);
    return slot;
  }

  int Of(int micro_batch) const {
    const auto at = taken_.find(micro_batch);
    MUSTER_CHECK(at != taken_.end()) << "micro-batch " << micro_batch;
    return at->second;
  }

  void Free(int micro_batch) {
    free_.insert(Of(micro_batch));
    taken_.erase(micro_batch);
  }

  int count() const { return count_; }

 private:
  int count_ = 0;
  std::set<int> free_;
  std::map<int, int> taken_;
};

// Marks, for each stage, the last pass that adds to the gradients of the
// stage's weights.
void MarkLastPasses(RankPlan* plan) {
  std::set<int> seen;
  for (auto at = plan->actions.rbegin(); at != plan->actions.rend(); ++at) {
    if (AddsToWeights(at->action.kind) && seen.insert(at->action.stage).second)
      at->pass.weights = WeightPass::kLast;
  }
}

}  // namespace

RankPlan PlanRank(const PipelineSchedule& lowered, int rank,
                  PipelinePass::Purpose purpose) {
  const PipelineShape& shape = lowered.shape;
  std::vector<ActivationSlots> slots(
      static_cast<size_t>(shape.stages_per_rank));
  RankPlan plan;
  for (const Action& action : lowered.ranks[static_cast<size_t>(rank)]) {
    PlannedAction planned{.action = action, .pass = {}};
    if (!IsCommunication(action.kind)) {
      ActivationSlots& stage =
          slots[static_cast<size_t>(action.stage / shape.ranks)];
      planned.pass = {.micro_batch = action.micro_batch,
                      .activation_slot = action.kind == ActionKind::kForward
                                             ? stage.Take(action.micro_batch)
                                             : stage.Of(action.micro_batch),
                      .purpose = purpose};
      if (AddsToWeights(action.kind)) stage.Free(action.micro_batch);
    }
    if (purpose == PipelinePass::Purpose::kEvaluation &&
        action.kind == ActionKind::kWeightBackward) {
      continue;
    }
    plan.actions.push_back(planned);
  }
  for (const ActivationSlots& stage : slots) {
    plan.activation_slots.push_back(stage.count());
  }
  MarkLastPasses(&plan);
  return plan;
}

std::vector<std::vector<Neighbours>> ChannelRounds(const PipelineShape& shape) {
  std::vector<std::vector<Neighbours>> rounds;
  const auto add = [&rounds](size_t round, const Neighbours& both) {
    if (rounds.size() <= round) rounds.resize(round + 1);
    rounds[round].push_back(both);
  };
  if (shape.ranks == 1) return rounds;
  for (int rank = 0; rank + 1 < shape.ranks; ++rank) {
    add(static_cast<size_t>(rank % 2), {rank, rank + 1});
  }
  if (shape.stages_per_rank > 1) {
    // Add the pair of the last rank and rank 0. If the number of ranks is odd,
    // this pair needs a third round, because the last rank is already in a pair
    // of round 1, and rank 0 in a pair of round 0.
    add(shape.ranks % 2 == 0 ? 1 : 2, {shape.ranks - 1, 0});
  }
  return rounds;
}

}  // namespace muster
