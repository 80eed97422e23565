#ifndef MUSTER_TRAINER_SDK_DDP_GRADIENT_BUCKET_H_
#define MUSTER_TRAINER_SDK_DDP_GRADIENT_BUCKET_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer_sdk/device/device.h"
#include "trainer_sdk/process_group/process_group.h"
#include "trainer_sdk/process_group/transport.h"
#include "trainer_sdk/tensor/tensor.h"

namespace muster {

// The gradients of several parameters in one contiguous buffer, reduced by one
// operation.
struct GradientBucket {
  // The position of one parameter's gradient: `count` elements from `offset`.
  struct Part {
    int parameter = 0;
    int64_t offset = 0;
    int64_t count = 0;
    // See Tensor::rows.
    int64_t rows = 1;
  };

  // Its position in the order of reductions, from 0.
  int index = 0;
  DType dtype = DType::kFloat32;
  // Number of elements.
  int64_t count = 0;
  void* data = nullptr;
  // Do not overlap. Elements between two parts belong to no parameter.
  std::vector<Part> parts;
  // The memory that `data` points into; null if it is the caller's.
  std::unique_ptr<TransportMemory> memory;
  // The device with this memory; null: the host.
  Device* device = nullptr;

  void* at(int64_t element) const {
    return static_cast<char*>(data) + element * SizeOf(dtype);
  }
  void* at(const Part& part) const { return at(part.offset); }
  TensorData view(const Part& part) const {
    return {at(part), part.count, dtype};
  }

  Device& on() const { return device == nullptr ? HostDevice() : *device; }

  // Runs an operation on this memory; on a device, enqueues it on the stream
  // for communication.
  absl::Status Run(Operation operation, ProcessGroup& group) const {
    operation.stream = on().handle(Device::Stream::kCommunication);
    return group.Run(operation);
  }
};

// Allocates the buckets of `assignment` by `group`, filled with zeros.
// Collective.
absl::StatusOr<std::vector<GradientBucket>> MakeBuckets(
    Device& device, ProcessGroup& group, const std::vector<Tensor>& parameters,
    const std::vector<std::vector<int>>& assignment);

// Makes the buckets of `assignment` out of the memory of the gradients, each
// from its first gradient in memory to its last. InvalidArgument: a bucket
// would contain gradients of another, or they are not aligned to each other.
absl::StatusOr<std::vector<GradientBucket>> BucketsInPlace(
    Device& device, const std::vector<Tensor>& parameters,
    const std::vector<std::vector<int>>& assignment);

// The address of each parameter's gradient in `buckets`, by parameter.
std::vector<void*> PlacesIn(const std::vector<GradientBucket>& buckets,
                            size_t parameters);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_DDP_GRADIENT_BUCKET_H_
