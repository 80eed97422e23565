#ifndef MUSTER_TRAINER_SDK_PROCESS_GROUP_WORLD_RANKS_H_
#define MUSTER_TRAINER_SDK_PROCESS_GROUP_WORLD_RANKS_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace muster {

// Replaces group ranks by world ranks in `text`, in the forms "rank 1" and
// "ranks 0, 2-3": rank i of the group is global_ranks[i]. Numbers that are not
// ranks of the group are unchanged. Pure.
std::string InWorldRanks(std::string_view text,
                         const std::vector<int>& global_ranks);

// Replaces group ranks by world ranks in the message of a group's error.
// Messages about the caller's arguments (InvalidArgument, Unimplemented) stay
// unchanged, and so does the reason of an Abort, which is the caller's own
// text. Pure.
absl::Status InWorldRanks(const absl::Status& status,
                          const std::vector<int>& global_ranks);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PROCESS_GROUP_WORLD_RANKS_H_
