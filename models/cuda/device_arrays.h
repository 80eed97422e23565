#ifndef MUSTER_MODELS_CUDA_DEVICE_ARRAYS_H_
#define MUSTER_MODELS_CUDA_DEVICE_ARRAYS_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "models/cuda/device.h"

namespace muster::models::cuda {

// Arrays in device memory, freed with this object. Movable; the device must
// outlive it.
class DeviceArrays {
 public:
  explicit DeviceArrays(Device& device) : device_(&device) {}

  // An uninitialised array. Null if this or an earlier allocation failed.
  template <typename T>
  T* Add(int64_t count) {
    return static_cast<T*>(AddBytes(count * static_cast<int64_t>(sizeof(T))));
  }

  // OK if all allocations succeeded. Check it before the arrays are used.
  const absl::Status& status() const { return status_; }
  int64_t bytes() const { return bytes_; }

 private:
  void* AddBytes(int64_t bytes) {
    if (!status_.ok()) return nullptr;
    absl::StatusOr<std::shared_ptr<void>> memory = device_->Allocate(bytes);
    status_ = memory.status();
    if (!memory.ok()) return nullptr;
    bytes_ += bytes;
    arrays_.push_back(*std::move(memory));
    return arrays_.back().get();
  }

  Device* device_;
  absl::Status status_;
  int64_t bytes_ = 0;
  std::vector<std::shared_ptr<void>> arrays_;
};

}  // namespace muster::models::cuda

#endif  // MUSTER_MODELS_CUDA_DEVICE_ARRAYS_H_
