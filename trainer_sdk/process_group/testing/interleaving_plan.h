#ifndef MUSTER_TRAINER_SDK_PROCESS_GROUP_TESTING_INTERLEAVING_PLAN_H_
#define MUSTER_TRAINER_SDK_PROCESS_GROUP_TESTING_INTERLEAVING_PLAN_H_

#include <cstdint>
#include <vector>

#include "trainer_sdk/process_group/testing/collective_case.h"
#include "trainer_sdk/process_group/testing/prepared_operation.h"

namespace muster {

// What ranks do in groups that overlap: a collective, a message or a batch in
// one group after another. Pure.
struct InterleavingStep {
  int group = 0;
  enum { kCollective, kMessage, kBatch } kind = kCollective;
  CollectiveCase collective;
  std::vector<MessageCase> messages;  // one of kMessage
};

// Members by rank in the group: everybody, every other one, and the rest with
// rank 0 last.
std::vector<std::vector<int>> OverlappingGroups(int size);

// `rank`'s rank in a group of `members`; -1: none of them.
int RankAmong(const std::vector<int>& members, int rank);

// 150 steps in these groups, drawn from `seed`.
std::vector<InterleavingStep> DrawSteps(
    const std::vector<std::vector<int>>& groups, uint64_t seed);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PROCESS_GROUP_TESTING_INTERLEAVING_PLAN_H_
