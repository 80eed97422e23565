#ifndef MUSTER_NCCL_NCCL_ABI_H_
#define MUSTER_NCCL_NCCL_ABI_H_

#include <cstddef>

// These types are declared as in the headers of NCCL and CUDA, so that programs
// that also include those headers get the same types.
struct ncclComm;
struct CUstream_st;

namespace muster::nccl {

// The part of NCCL's binary interface that Muster uses, so that Muster can be
// built without NCCL's header. The values and layouts are those of nccl.h 2.14
// to 2.30; no version in between has changed them.

using NcclComm = ::ncclComm*;

constexpr int kNcclUniqueIdBytes = 128;
// NCCL's ncclUniqueId. NCCL's functions take it by value.
struct NcclUniqueId {
  char internal[kNcclUniqueIdBytes];
};

using NcclResult = int;
constexpr NcclResult kNcclSuccess = 0;
constexpr NcclResult kNcclInvalidArgument = 4;
constexpr NcclResult kNcclInvalidUsage = 5;
constexpr NcclResult kNcclInProgress = 7;

// Encodes a version of NCCL as a number, in the form that ncclGetVersion
// returns since NCCL 2.9.
constexpr int NcclVersion(int major, int minor, int patch) {
  return major * 10000 + minor * 100 + patch;
}

// NCCL's ncclConfig_t in version 2.14. Later versions of NCCL see from `size`
// and `version` that the fields after `blocking` are missing, and use their
// defaults.
struct NcclConfig {
  size_t size = sizeof(NcclConfig);
  unsigned magic = 0xcafebeef;
  unsigned version = NcclVersion(2, 14, 0);
  int blocking = 0;
};

constexpr int kNcclSplitNoColor = -1;

// Values of NCCL's ncclDataType_t.
constexpr int kNcclInt8 = 0;
constexpr int kNcclInt32 = 2;
constexpr int kNcclInt64 = 4;
constexpr int kNcclFloat16 = 6;
constexpr int kNcclFloat32 = 7;
constexpr int kNcclFloat64 = 8;
constexpr int kNcclBFloat16 = 9;

// Values of NCCL's ncclRedOp_t.
constexpr int kNcclSum = 0;
constexpr int kNcclProd = 1;
constexpr int kNcclMax = 2;
constexpr int kNcclMin = 3;
constexpr int kNcclAvg = 4;

// CUDA's cudaStream_t and CUstream, which are the same type.
using CudaStream = ::CUstream_st*;

}  // namespace muster::nccl

#endif  // MUSTER_NCCL_NCCL_ABI_H_
