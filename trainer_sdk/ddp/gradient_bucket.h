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
  // The position of one parameter's gradient in the bucket: `count` elements
  // from element `offset`.
  struct Part {
    int parameter = 0;
    int64_t offset = 0;
    int64_t count = 0;
    // Number of rows of the gradient as a matrix (Tensor::rows).
    int64_t rows = 1;
  };

  // Position of the bucket in the order of reductions, from 0.
  int index = 0;
  DType dtype = DType::kFloat32;
  // Number of elements in the bucket, gaps included.
  int64_t count = 0;
  void* data = nullptr;
  // The parts of the bucket, which do not overlap. Elements between two parts
  // belong to no parameter.
  std::vector<Part> parts;
  // The memory to which `data` points; null if that memory belongs to the
  // caller.
  std::unique_ptr<TransportMemory> memory;
  // The device whose memory holds the bucket; null: the host.
  Device* device = nullptr;

  void* at(int64_t element) const {
    return static_cast<char*>(data) + element * SizeOf(dtype);
  }
  void* at(const Part& part) const { return at(part.offset); }
  TensorData view(const Part& part) const {
    return {at(part), part.count, dtype};
  }

  Device& on() const { return device == nullptr ? HostDevice() : *device; }

  // Runs an operation on the bucket's memory. On a device, the operation is
  // enqueued on the stream for communication.
  absl::Status Run(Operation operation, ProcessGroup& group) const {
    operation.stream = on().handle(Device::Stream::kCommunication);
    return group.Run(operation);
  }
};

// Allocates the buckets of `assignment` in memory of `group`, filled with
// zeros. Collective.
absl::StatusOr<std::vector<GradientBucket>> MakeBuckets(
    Device& device, ProcessGroup& group, const std::vector<Tensor>& parameters,
    const std::vector<std::vector<int>>& assignment);

// Makes the buckets of `assignment` in the memory where the gradients already
// are, without a copy. A bucket extends from its first gradient in memory to
// its last. InvalidArgument: a bucket would contain gradients of another
// bucket, or the distance between two gradients is not a whole number of
// elements.
absl::StatusOr<std::vector<GradientBucket>> BucketsInPlace(
    Device& device, const std::vector<Tensor>& parameters,
    const std::vector<std::vector<int>>& assignment);

// The address of each parameter's gradient in `buckets`, indexed by parameter.
std::vector<void*> PlacesIn(const std::vector<GradientBucket>& buckets,
                            size_t parameters);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_DDP_GRADIENT_BUCKET_H_
