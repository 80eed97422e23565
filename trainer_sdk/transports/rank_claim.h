#ifndef MUSTER_TRAINER_SDK_TRANSPORTS_RANK_CLAIM_H_
#define MUSTER_TRAINER_SDK_TRANSPORTS_RANK_CLAIM_H_

#include <string>

#include "absl/status/status.h"
#include "trainer_sdk/store/store.h"

namespace muster {

// Returns a text that identifies this process among all users of a store: "pid
// 4711 on node7 (5f0c...)". Its last part is random, because containers of one
// image may share host name and pid.
std::string ProcessIdentity();

// Records in `store` that the process `process` (a text from ProcessIdentity)
// is rank `rank` of a group. `store` must contain only the keys of groups with
// this group's name. InvalidArgument: another process is already recorded as
// this rank, so two groups have the same name; the message names that process.
absl::Status ClaimRank(Store& store, int rank, const std::string& process);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_TRANSPORTS_RANK_CLAIM_H_
