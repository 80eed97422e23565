#ifndef MUSTER_TRAINER_SDK_TRANSPORTS_RANK_CLAIM_H_
#define MUSTER_TRAINER_SDK_TRANSPORTS_RANK_CLAIM_H_

#include <string>

#include "absl/status/status.h"
#include "trainer_sdk/store/store.h"

namespace muster {

// This process among all that use a store: "pid 4711 on node7 (5f0c...)", with
// a random part, as containers of one image share host name and pid.
std::string ProcessIdentity();

// Notes in `store`, the keys of one name of groups, that rank `rank` is
// `process`. InvalidArgument: another process has claimed the rank, so two
// groups were given one name; the message names that process.
absl::Status ClaimRank(Store& store, int rank, const std::string& process);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_TRANSPORTS_RANK_CLAIM_H_
