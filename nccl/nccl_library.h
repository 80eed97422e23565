#ifndef MUSTER_NCCL_NCCL_LIBRARY_H_
#define MUSTER_NCCL_NCCL_LIBRARY_H_

#include <cstddef>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "nccl/nccl_abi.h"

namespace muster::nccl {

// The library NCCL, loaded at run time, so that the same program runs with and
// without NCCL. The object is immutable and therefore thread-safe. NCCL's own
// rules for callers apply.
class NcclLibrary {
 public:
  // The file name to load: the value of MUSTER_NCCL_LIBRARY, or else
  // "libnccl.so.2".
  static std::string DefaultName();

  // Loads NCCL. NotFound: NCCL is missing, or is older than 2.14 (earlier
  // versions cannot wait for a communicator with a deadline). The message says
  // which file was tried and what to do.
  static absl::StatusOr<std::shared_ptr<const NcclLibrary>> Load(
      const std::string& name = DefaultName());

  // The version of the loaded library: as a number, encoded like NcclVersion(2,
  // 28, 9), and as text: "2.28.9".
  int version() const { return version_; }
  std::string VersionText() const;
  const std::string& name() const { return name_; }

  // Whether the loaded library has a feature that NCCL 2.14 lacks: splitting a
  // communicator (since 2.18), allocating memory, registering memory (both
  // since 2.19).
  bool can_split() const { return CommSplit != nullptr; }  // NCCL >= 2.18
  bool can_allocate() const {                              // NCCL >= 2.19
    return MemAlloc != nullptr && MemFree != nullptr;
  }
  bool can_register() const {  // NCCL >= 2.19
    return CommRegister != nullptr && CommDeregister != nullptr;
  }

  // Returns NCCL's text for `result`, such as "unhandled cuda error (run with
  // NCCL_DEBUG=INFO for details)", followed by NCCL's text for its last error,
  // if there is one. `comm` may be null.
  std::string Explain(NcclResult result, NcclComm comm) const;

  // NCCL's functions; each name lacks the prefix "nccl".
  NcclResult (*GetUniqueId)(NcclUniqueId*) = nullptr;
  NcclResult (*CommInitRankConfig)(NcclComm*, int size, NcclUniqueId, int rank,
                                   NcclConfig*) = nullptr;
  NcclResult (*CommSplit)(NcclComm, int color, int key, NcclComm*,
                          NcclConfig*) = nullptr;
  NcclResult (*CommFinalize)(NcclComm) = nullptr;
  NcclResult (*CommDestroy)(NcclComm) = nullptr;
  NcclResult (*CommAbort)(NcclComm) = nullptr;
  NcclResult (*CommGetAsyncError)(NcclComm, NcclResult*) = nullptr;
  NcclResult (*AllReduce)(const void*, void*, size_t, int dtype, int op,
                          NcclComm, CudaStream) = nullptr;
  NcclResult (*ReduceScatter)(const void*, void*, size_t, int dtype, int op,
                              NcclComm, CudaStream) = nullptr;
  NcclResult (*AllGather)(const void*, void*, size_t, int dtype, NcclComm,
                          CudaStream) = nullptr;
  NcclResult (*Broadcast)(const void*, void*, size_t, int dtype, int root,
                          NcclComm, CudaStream) = nullptr;
  NcclResult (*Reduce)(const void*, void*, size_t, int dtype, int op, int root,
                       NcclComm, CudaStream) = nullptr;
  NcclResult (*Send)(const void*, size_t, int dtype, int peer, NcclComm,
                     CudaStream) = nullptr;
  NcclResult (*Recv)(void*, size_t, int dtype, int peer, NcclComm,
                     CudaStream) = nullptr;
  NcclResult (*GroupStart)() = nullptr;
  NcclResult (*GroupEnd)() = nullptr;
  NcclResult (*MemAlloc)(void**, size_t) = nullptr;
  NcclResult (*MemFree)(void*) = nullptr;
  NcclResult (*CommRegister)(NcclComm, void*, size_t, void**) = nullptr;
  NcclResult (*CommDeregister)(NcclComm, void*) = nullptr;

 private:
  NcclLibrary() = default;

  std::string name_;
  int version_ = 0;
  const char* (*GetErrorString)(NcclResult) = nullptr;
  const char* (*GetLastError)(NcclComm) = nullptr;
};

// Convert an id to 256 lower-case hexadecimal digits and back. InvalidArgument:
// `hex` does not have this form.
std::string HexOf(const NcclUniqueId& id);
absl::StatusOr<NcclUniqueId> NcclUniqueIdOf(const std::string& hex);

}  // namespace muster::nccl

#endif  // MUSTER_NCCL_NCCL_LIBRARY_H_
