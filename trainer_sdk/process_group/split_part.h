#ifndef MUSTER_TRAINER_SDK_PROCESS_GROUP_SPLIT_PART_H_
#define MUSTER_TRAINER_SDK_PROCESS_GROUP_SPLIT_PART_H_

#include <string>
#include <vector>

#include "trainer_sdk/process_group/transport.h"

namespace muster {

// One Split of a group.
struct SplitNaming {
  // Counts the group's splits from 1.
  int number = 1;
  // Of its keys in the group's store.
  std::string prefix;
  // In the names of its parts; empty: the prefix.
  std::string label;
};

// The place of this rank, which is one of `members` (ranks of the parent), in
// its part of a split: its rank, name, keys, and the members' global ranks,
// taken from the parent's. Pure.
GroupPlace PartOf(const GroupPlace& parent,
                  const std::vector<int>& parent_global_ranks,
                  const std::vector<int>& members, int color,
                  const SplitNaming& naming, std::vector<int>* global_ranks);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PROCESS_GROUP_SPLIT_PART_H_
