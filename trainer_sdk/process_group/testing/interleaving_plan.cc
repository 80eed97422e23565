#include "trainer_sdk/process_group/testing/interleaving_plan.h"

#include <algorithm>
#include <random>

#include "trainer_sdk/process_group/testing/case_selection.h"

namespace muster {
namespace {

constexpr int kSteps = 150;

MessageCase DrawMessage(std::minstd_rand& random, int size) {
  MessageCase message;
  message.from = static_cast<int>(random() % size);
  message.to =
      static_cast<int>((message.from + 1 + random() % (size - 1)) % size);
  message.count = static_cast<int64_t>(random() % 3000);
  message.dtype = static_cast<DType>(random() % kDTypes);
  message.seed = random();
  return message;
}

}  // namespace

std::vector<std::vector<int>> OverlappingGroups(int size) {
  std::vector<std::vector<int>> groups(3);
  for (int rank = 0; rank < size; rank++) {
    groups[0].push_back(rank);
    if (rank % 2 == 0) groups[1].push_back(rank);
    if (rank % 2 == 1) groups[2].push_back(rank);
  }
  groups[2].push_back(0);
  return groups;
}

int RankAmong(const std::vector<int>& members, int rank) {
  const auto at = std::find(members.begin(), members.end(), rank);
  return at == members.end() ? -1 : static_cast<int>(at - members.begin());
}

std::vector<InterleavingStep> DrawSteps(
    const std::vector<std::vector<int>>& groups, uint64_t seed) {
  std::minstd_rand random(static_cast<unsigned>(seed + 1));
  std::vector<std::vector<CollectiveCase>> cases;
  cases.reserve(groups.size());
  for (const auto& members : groups) {
    cases.push_back(ShortCases(static_cast<int>(members.size())));
  }
  std::vector<InterleavingStep> steps(kSteps);
  for (InterleavingStep& step : steps) {
    step.group = static_cast<int>(random() % groups.size());
    const int size = static_cast<int>(groups[step.group].size());
    const unsigned draw = random() % 4;
    if (draw < 2 || size == 1) {
      step.collective = cases[step.group][random() % cases[step.group].size()];
    } else {
      step.kind =
          draw == 2 ? InterleavingStep::kMessage : InterleavingStep::kBatch;
      const int messages = draw == 2 ? 1 : static_cast<int>(random() % 6);
      for (int i = 0; i < messages; i++) {
        step.messages.push_back(DrawMessage(random, size));
      }
    }
  }
  return steps;
}

}  // namespace muster
