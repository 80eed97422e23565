#ifndef MUSTER_TRAINER_SDK_NCCL_FAKE_LIBRARY_H_
#define MUSTER_TRAINER_SDK_NCCL_FAKE_LIBRARY_H_

#include <memory>
#include <string>

#include "trainer_sdk/nccl/fake_nccl_control.h"
#include "trainer_sdk/nccl/nccl_transport.h"
#include "trainer_sdk/process_group/testing/conformance_subject.h"

namespace muster {

inline constexpr char kFakeNccl[] = "trainer_sdk/nccl/libfake_nccl.so";
inline constexpr char kFakeOldNccl[] = "trainer_sdk/nccl/libfake_old_nccl.so";

// A test's handle of one of the fake libraries.
class FakeLibrary {
 public:
  explicit FakeLibrary(const std::string& name = kFakeNccl);

  FakeNcclControl& control() const { return *control_; }
  // Resets all settings; counts of live objects stay.
  void Reset() const;

  // Options that use this library both as NCCL and as the CUDA driver.
  NcclOptions options() const;

  // Blocks until the calling thread's stream is empty.
  void Drain() const { drain_(nullptr); }

 private:
  const std::string name_;
  FakeNcclControl* control_ = nullptr;
  void (*drain_)(void*) = nullptr;
};

// Memory of the fake device, which is host memory. Read first waits for pending
// work.
class FakeDeviceMemory final : public ConformanceMemory {
 public:
  explicit FakeDeviceMemory(FakeLibrary library)
      : library_(std::move(library)) {}
  void Write(void* to, const void* from, int64_t bytes) override;
  void Read(void* to, const void* from, int64_t bytes) override;

 private:
  const FakeLibrary library_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_NCCL_FAKE_LIBRARY_H_
