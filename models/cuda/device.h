#ifndef MUSTER_MODELS_CUDA_DEVICE_H_
#define MUSTER_MODELS_CUDA_DEVICE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/time.h"
#include "models/cuda/kernels/cuda_stream.h"
#include "models/cuda/product.h"

namespace muster::cuda {

// A GPU with two streams, as used by training code. Work on a stream is done in
// order and asynchronously. Errors are reported by status(), which keeps the
// first. All methods and the kernels use stream(); communication uses
// side_stream(), concurrently. Not thread-safe.
class Device {
 public:
  virtual ~Device() = default;

  // Allocates device memory, aligned to 256 bytes and not initialised.
  // ResourceExhausted: not enough memory. Free it only after all work that uses
  // it is done.
  virtual absl::StatusOr<std::shared_ptr<void>> Allocate(int64_t bytes) = 0;

  virtual CudaStream stream() const = 0;
  virtual CudaStream side_stream() const = 0;
  // Make later work on one stream wait for the current work on the other.
  virtual void SideWaitsForMain() = 0;
  virtual void MainWaitsForSide() = 0;

  // Copies from host to device. The host memory may be changed when this
  // returns.
  virtual void CopyIn(void* to, const void* from, int64_t bytes) = 0;
  // Copies from device to host. Blocks until the data has arrived.
  virtual void CopyOut(void* to, const void* from, int64_t bytes) = 0;
  // Copies within the device.
  virtual void Copy(void* to, const void* from, int64_t bytes) = 0;
  virtual void Zero(void* at, int64_t bytes) = 0;
  virtual void Multiply(const Product& product) = 0;

  // Blocks until the work on stream() is done.
  virtual void Wait() = 0;

  // Records the time at which the current work of that stream is done. Returns
  // the index of the mark, from 0. For timelines.
  enum class StreamName { kMain, kSide };
  virtual int Mark(StreamName stream) = 0;
  // Blocks until all marks are reached, and returns the time of each after the
  // first mark. Then the next mark has index 0 again.
  virtual std::vector<Duration> ReadMarks() = 0;

  // The first error of any method above or of a kernel launch, as far as it is
  // known; after Wait all are known. Names the CUDA call and its message.
  virtual absl::Status status() = 0;
};

}  // namespace muster::cuda

#endif  // MUSTER_MODELS_CUDA_DEVICE_H_
