#ifndef MUSTER_MODELS_CUDA_DEVICE_ARRAYS_H_
#define MUSTER_MODELS_CUDA_DEVICE_ARRAYS_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "models/cuda/device.h"

namespace muster::cuda {

// Arrays in device memory that live as long as this. Movable; the device must
// outlive it.
class DeviceArrays {
 public:
  explicit DeviceArrays(Device& device) : device_(&device) {}

  // Of any content. Null if this or an earlier one could not be had.
  template <typename T>
  T* Add(int64_t count) {
    return static_cast<T*>(AddBytes(count * static_cast<int64_t>(sizeof(T))));
  }

  // Whether all could be had; says so before any is used.
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

}  // namespace muster::cuda

#endif  // MUSTER_MODELS_CUDA_DEVICE_ARRAYS_H_
