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

// The NCCL id of this round's world, which the agent of rank 0 made
// (MUSTER_NCCL_ID), in hexadecimal; empty if there is none. Only the first call
// in a process returns the id, because an id serves one group, the world. Later
// groups get their ids through the store. Thread-safe.
std::string TakeWorldNcclId();

// Agrees on the NCCL id of one new group through the group's store. Rank 0
// makes the id, and its process hosts the root of NCCL's bootstrap as long as
// it lives. A failure on rank 0 is returned on every rank.
absl::StatusOr<nccl::NcclUniqueId> AgreeOnNcclId(const nccl::NcclLibrary& nccl,
                                                 const GroupPlace& place,
                                                 Instant deadline);

// Ends the peers' wait for an id when rank 0 cannot make one.
void TellThatThereIsNoNcclId(const GroupPlace& place, const absl::Status& why);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_NCCL_UNIQUE_ID_H_
