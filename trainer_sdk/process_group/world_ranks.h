#ifndef MUSTER_TRAINER_SDK_PROCESS_GROUP_WORLD_RANKS_H_
#define MUSTER_TRAINER_SDK_PROCESS_GROUP_WORLD_RANKS_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace muster {

// `text` with "rank 1" and "ranks 0, 2-3" of a group told as ranks of the
// world: rank i of the group is global_ranks[i]. Numbers that are no rank of
// the group stay. Pure.
std::string InWorldRanks(std::string_view text,
                         const std::vector<int>& global_ranks);

// The same of a group's error. What only the caller's arguments are about stays
// (InvalidArgument, Unimplemented), and so does the reason that somebody gave
// for an Abort: it is the caller's own text. Pure.
absl::Status InWorldRanks(const absl::Status& status,
                          const std::vector<int>& global_ranks);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PROCESS_GROUP_WORLD_RANKS_H_
