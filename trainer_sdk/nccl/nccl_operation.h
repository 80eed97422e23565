#ifndef MUSTER_TRAINER_SDK_NCCL_NCCL_OPERATION_H_
#define MUSTER_TRAINER_SDK_NCCL_NCCL_OPERATION_H_

#include "nccl/nccl_abi.h"
#include "nccl/nccl_library.h"
#include "trainer_sdk/process_group/operation.h"

namespace muster {

// Where in its communicator a call is made.
struct NcclCallSite {
  const NcclLibrary* nccl = nullptr;
  NcclComm comm = nullptr;
  CudaStream stream = nullptr;
  int rank = 0;
  int size = 1;
  // One int32 of device memory, for barriers.
  void* barrier_cell = nullptr;
};

// Whether `operation` makes this rank call NCCL at all: with no element, none
// does.
bool MovesAnything(const Operation& operation, int rank, int size);

// Puts `operation` on the stream, as one call or one group of calls; NCCL's
// result, kNcclInProgress included.
//
// Uneven all_gather is a group of broadcasts and uneven reduce_scatter one of
// reductions, one a rank; all_to_all, gather and scatter are groups of sends
// and receives, a rank's own part included. Parts of no element are left out,
// on both sides alike. NCCL has no tags: messages between two
// ranks arrive in the order of their sending.
NcclResult CallNccl(const NcclCallSite& site, const Operation& operation);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_NCCL_NCCL_OPERATION_H_
