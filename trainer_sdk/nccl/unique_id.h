#ifndef MUSTER_TRAINER_SDK_NCCL_UNIQUE_ID_H_
#define MUSTER_TRAINER_SDK_NCCL_UNIQUE_ID_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/time.h"
#include "nccl/nccl_abi.h"
#include "nccl/nccl_library.h"
#include "trainer_sdk/process_group/transport.h"

namespace muster {

// The id of this round's world, which the agent of rank 0 has made
// (MUSTER_NCCL_ID), in hexadecimal digits; empty where there is none. It serves
// one group, the world's, once: a second call gives nothing, in every rank
// alike, and the groups after it find their ids in the store. Thread-safe.
std::string TakeWorldNcclId();

// The id of one new group, through its store: rank 0 makes it, and hosts the
// root of NCCL's bootstrap for as long as the process lives. What failed at
// rank 0 is every rank's error.
absl::StatusOr<NcclUniqueId> AgreeOnNcclId(const NcclLibrary& nccl,
                                           const GroupPlace& place,
                                           Instant deadline);

// Ends the peers' wait for the id that rank 0 cannot make.
void TellThatThereIsNoNcclId(const GroupPlace& place, const absl::Status& why);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_NCCL_UNIQUE_ID_H_
