#ifndef MUSTER_TRAINER_SDK_NCCL_NCCL_OPERATION_H_
#define MUSTER_TRAINER_SDK_NCCL_NCCL_OPERATION_H_

#include "nccl/nccl_abi.h"
#include "nccl/nccl_library.h"
#include "trainer_sdk/process_group/operation.h"

namespace muster {

// The arguments, besides the operation itself, with which NCCL is called.
struct NcclCallSite {
  const nccl::NcclLibrary* nccl = nullptr;
  nccl::NcclComm comm = nullptr;
  nccl::CudaStream stream = nullptr;
  int rank = 0;
  int size = 1;
  // The address of one int32 in device memory. A barrier is an all_reduce of
  // this number.
  void* barrier_cell = nullptr;
};

// Whether this rank needs to call NCCL for `operation`. No call is needed if
// the operation moves no elements to or from this rank.
bool MovesAnything(const Operation& operation, int rank, int size);

// Enqueues `operation` on the stream `site.stream`, as one NCCL call or one
// NCCL group of calls. Returns NCCL's result, which may be kNcclInProgress.
//
// An all_gather with uneven parts becomes a group of broadcasts, one per rank;
// a reduce_scatter with uneven parts becomes a group of reductions, one per
// rank. all_to_all, gather and scatter become groups of sends and receives,
// including a rank's own part. Empty parts are neither sent nor received. NCCL
// has no tags: messages between two ranks arrive in the order in which they
// were sent.
nccl::NcclResult CallNccl(const NcclCallSite& site, const Operation& operation);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_NCCL_NCCL_OPERATION_H_
