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

// A handle with which a test loads and controls one of the fake NCCL libraries.
class FakeLibrary {
 public:
  explicit FakeLibrary(const std::string& name = kFakeNccl);

  FakeNcclControl& control() const { return *control_; }
  // Resets all settings to their defaults. Counters are not changed.
  void Reset() const;

  // NCCL transport options that name this library both as NCCL and as the CUDA
  // driver.
  NcclOptions options() const;

  // Blocks until all work on the calling thread's default stream is done.
  void Drain() const { drain_(nullptr); }

 private:
  const std::string name_;
  FakeNcclControl* control_ = nullptr;
  void (*drain_)(void*) = nullptr;
};

// Access to the fake device's memory, which is host memory. Read and Write
// first wait for pending work.
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
