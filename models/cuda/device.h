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

// A GPU and two streams of it, as training code uses them. What is put on a
// stream is done in order, later; its errors are told by status(), and the
// first stays. All here goes on stream(), and our kernels too; communication
// goes on side_stream(), beside it. One thread at a time.
class Device {
 public:
  virtual ~Device() = default;

  // Aligned to 256 bytes; of any content. ResourceExhausted: there is not so
  // much. It may not be freed before what uses it is done.
  virtual absl::StatusOr<std::shared_ptr<void>> Allocate(int64_t bytes) = 0;

  virtual CudaStream stream() const = 0;
  virtual CudaStream side_stream() const = 0;
  // What comes on one stream from now on waits for what is on the other now.
  virtual void SideWaitsForMain() = 0;
  virtual void MainWaitsForSide() = 0;

  // The host's memory may be changed at once.
  virtual void CopyIn(void* to, const void* from, int64_t bytes) = 0;
  // Waits until it is there.
  virtual void CopyOut(void* to, const void* from, int64_t bytes) = 0;
  // Within the device.
  virtual void Copy(void* to, const void* from, int64_t bytes) = 0;
  virtual void Zero(void* at, int64_t bytes) = 0;
  virtual void Multiply(const Product& product) = 0;

  // Waits for stream().
  virtual void Wait() = 0;

  // Notes when what is on that stream now is done; the note's number, counted
  // from 0. For timelines.
  enum class StreamName { kMain, kSide };
  virtual int Mark(StreamName stream) = 0;
  // How long after the first note each was; waits for them all. The next note
  // is the first again.
  virtual std::vector<Duration> ReadMarks() = 0;

  // The first error of anything above or of a kernel's launch, as far as it is
  // known by now: Wait makes all known. CUDA's call and its words.
  virtual absl::Status status() = 0;
};

}  // namespace muster::cuda

#endif  // MUSTER_MODELS_CUDA_DEVICE_H_
