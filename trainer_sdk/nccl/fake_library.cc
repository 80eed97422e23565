#include "trainer_sdk/nccl/fake_library.h"

#include "base/check.h"
#include "base/dynamic_library.h"

namespace muster {

FakeLibrary::FakeLibrary(const std::string& name) : name_(name) {
  const auto file = DynamicLibrary::Load(name);
  MUSTER_CHECK(file.ok()) << file.status();
  FakeNcclControl* (*control)() = nullptr;
  MUSTER_CHECK(file->Find("FakeNccl", &control));
  MUSTER_CHECK(file->Find("FakeDrain", &drain_));
  control_ = control();
}

void FakeLibrary::Reset() const {
  control_->version = 22809;
  control_->devices = 1;
  control_->init_result = 0;
  control_->unique_id_result = 0;
  control_->polls = 0;
  control_->rank_that_fails_to_join = -1;
  control_->rank_that_fails_to_split = -1;
  control_->async_error = 0;
  control_->abort_hangs = false;
}

NcclOptions FakeLibrary::options() const {
  NcclOptions options;
  options.nccl_library = name_;
  options.cuda_library = name_;
  return options;
}

void FakeDeviceMemory::Write(void* to, const void* from, int64_t bytes) {
  library_.Drain();
  if (bytes > 0) ConformanceMemory::Write(to, from, bytes);
}

void FakeDeviceMemory::Read(void* to, const void* from, int64_t bytes) {
  library_.Drain();
  if (bytes > 0) ConformanceMemory::Read(to, from, bytes);
}

}  // namespace muster
