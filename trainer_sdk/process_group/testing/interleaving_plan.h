#ifndef MUSTER_TRAINER_SDK_PROCESS_GROUP_TESTING_INTERLEAVING_PLAN_H_
#define MUSTER_TRAINER_SDK_PROCESS_GROUP_TESTING_INTERLEAVING_PLAN_H_

#include <cstdint>
#include <vector>

#include "trainer_sdk/process_group/testing/collective_case.h"
#include "trainer_sdk/process_group/testing/prepared_operation.h"

namespace muster {

// The plan of a test with overlapping groups: a collective, a message or a
// batch in one group after another. Pure.
struct InterleavingStep {
  int group = 0;
  enum { kCollective, kMessage, kBatch } kind = kCollective;
  CollectiveCase collective;
  std::vector<MessageCase> messages;  // exactly one for kMessage
};

// The members of each group by rank in the group: all ranks; every other rank;
// the remaining ranks with rank 0 last.
std::vector<std::vector<int>> OverlappingGroups(int size);

// The rank of world rank `rank` in a group of `members`; -1 if not a member.
int RankAmong(const std::vector<int>& members, int rank);

// Draws 150 steps in these groups from `seed`.
std::vector<InterleavingStep> DrawSteps(
    const std::vector<std::vector<int>>& groups, uint64_t seed);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PROCESS_GROUP_TESTING_INTERLEAVING_PLAN_H_
