#ifndef MUSTER_TRAINER_SDK_PROCESS_GROUP_SPLIT_PART_H_
#define MUSTER_TRAINER_SDK_PROCESS_GROUP_SPLIT_PART_H_

#include <string>
#include <vector>

#include "trainer_sdk/process_group/transport.h"

namespace muster {

// One Split of a group.
struct SplitNaming {
  // Its number among the group's splits, from 1.
  int number = 1;
  // Prefix of its keys in the group's store.
  std::string prefix;
  // Part of the new groups' names; empty: the prefix is used.
  std::string label;
};

// The place of this rank in its new group after a split: its rank, name and
// keys. `members` are the ranks of the parent that form the new group, this
// rank included. Sets `global_ranks` to the members' world ranks, taken from
// `parent_global_ranks`. Pure.
GroupPlace PartOf(const GroupPlace& parent,
                  const std::vector<int>& parent_global_ranks,
                  const std::vector<int>& members, int color,
                  const SplitNaming& naming, std::vector<int>* global_ranks);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PROCESS_GROUP_SPLIT_PART_H_
