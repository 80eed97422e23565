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

// A test's hold on one of the fake libraries.
class FakeLibrary {
 public:
  explicit FakeLibrary(const std::string& name = kFakeNccl);

  FakeNcclControl& control() const { return *control_; }
  // All knobs as they were at first; what is alive stays counted.
  void Reset() const;

  // Options that use it as NCCL and as the driver.
  NcclOptions options() const;

  // Waits until all that is on the calling thread's stream is done.
  void Drain() const { drain_(nullptr); }

 private:
  const std::string name_;
  FakeNcclControl* control_ = nullptr;
  void (*drain_)(void*) = nullptr;
};

// The fake's device memory: the host's, read once what is under way is done.
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
