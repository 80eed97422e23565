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

// Records in `store` that rank `rank` is the process `process` (its
// ProcessIdentity). `store` must hold keys of groups with one name only.
// InvalidArgument: another process has already claimed the rank, so two groups
// have the same name; the message names that process.
absl::Status ClaimRank(Store& store, int rank, const std::string& process);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_TRANSPORTS_RANK_CLAIM_H_
