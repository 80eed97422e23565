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

// Returns the NCCL id of this round's world in hexadecimal, which the agent of
// rank 0 made (MUSTER_NCCL_ID); empty if there is none. Only the first call in
// a process returns the id, because an NCCL id may be used for one group only.
// Later groups get their ids through the store. Thread-safe.
std::string TakeWorldNcclId();

// Agrees on the NCCL id of one new group, through the group's store. Rank 0
// creates the id. The process of rank 0 must stay alive, because this process
// hosts the root of NCCL's bootstrap. If rank 0 fails, every rank gets rank 0's
// error.
absl::StatusOr<nccl::NcclUniqueId> AgreeOnNcclId(const nccl::NcclLibrary& nccl,
                                                 const GroupPlace& place,
                                                 Instant deadline);

// Called if rank 0 cannot create an NCCL id: publishes the reason, so that the
// peers stop waiting for an id.
void TellThatThereIsNoNcclId(const GroupPlace& place, const absl::Status& why);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_NCCL_UNIQUE_ID_H_
