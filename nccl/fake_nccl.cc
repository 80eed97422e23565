// A fake of the library NCCL for tests. It has the functions that NcclLibrary
// looks up, but can only create unique ids. The environment variable
// FAKE_NCCL_VERSION sets the version that the fake reports. If compiled with
// FAKE_NCCL_2_14, the fake lacks the functions of later versions.

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "nccl/nccl_abi.h"

extern "C" {

muster::nccl::NcclResult ncclGetVersion(int* version) {
  const char* const given = std::getenv("FAKE_NCCL_VERSION");
  *version = given == nullptr
                 ? muster::nccl::NcclVersion(2, 28, 9)
                 : static_cast<int>(std::strtol(given, nullptr, 10));
  return muster::nccl::kNcclSuccess;
}

muster::nccl::NcclResult ncclGetUniqueId(muster::nccl::NcclUniqueId* id) {
  static std::atomic<int> made = 0;
  std::memset(id->internal, 0, sizeof(id->internal));
  std::snprintf(id->internal, sizeof(id->internal), "%d.%d",
                static_cast<int>(getpid()), ++made);
  return muster::nccl::kNcclSuccess;
}

const char* ncclGetErrorString(muster::nccl::NcclResult) {
  return "unhandled system error";
}
const char* ncclGetLastError(muster::nccl::NcclComm) {
  return "the fake's last words";
}

#define MUSTER_FAKE(name) \
  muster::nccl::NcclResult name() { return muster::nccl::kNcclInvalidUsage; }

MUSTER_FAKE(ncclCommInitRankConfig)
MUSTER_FAKE(ncclCommFinalize)
MUSTER_FAKE(ncclCommDestroy)
MUSTER_FAKE(ncclCommAbort)
MUSTER_FAKE(ncclCommGetAsyncError)
MUSTER_FAKE(ncclAllReduce)
MUSTER_FAKE(ncclReduceScatter)
MUSTER_FAKE(ncclAllGather)
MUSTER_FAKE(ncclBroadcast)
MUSTER_FAKE(ncclReduce)
MUSTER_FAKE(ncclSend)
MUSTER_FAKE(ncclRecv)
MUSTER_FAKE(ncclGroupStart)
MUSTER_FAKE(ncclGroupEnd)
#ifndef FAKE_NCCL_2_14
MUSTER_FAKE(ncclCommSplit)
MUSTER_FAKE(ncclMemAlloc)
MUSTER_FAKE(ncclMemFree)
MUSTER_FAKE(ncclCommRegister)
MUSTER_FAKE(ncclCommDeregister)
#endif

}  // extern "C"
