#ifndef MUSTER_MODELS_CUDA_DEVICE_H_
#define MUSTER_MODELS_CUDA_DEVICE_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "base/time.h"
#include "models/cuda/kernels/cuda_stream.h"
#include "models/cuda/product.h"
#include "trainer_sdk/device/device.h"

namespace muster::models::cuda {

// A GPU as the models use it: what trainer_sdk needs of a device, on our
// kernels, and matrix products. Methods without a Stream, and the kernels, use
// stream().
class Device : public ::muster::Device {
 public:
  // The streams kCompute and kCommunication.
  virtual CudaStream stream() const = 0;
  virtual CudaStream side_stream() const = 0;
  void* handle(Stream which) const final { return Of(which); }

  void Convert(Stream stream, const TensorData& from, const TensorData& to,
               DType precision) final;
  void AddSquares(const TensorData& values, int64_t* words) final;
  // Has AdamWRule and SgdRule.
  absl::Status Update(const UpdateRule& rule, const OptimizerStep& step,
                      const WeightUpdate& update) final;

  using ::muster::Device::Copy;
  using ::muster::Device::Zero;
  void Copy(void* to, const void* from, int64_t bytes) {
    Copy(Stream::kCompute, to, from, bytes);
  }
  void Zero(void* at, int64_t bytes) { Zero(Stream::kCompute, at, bytes); }
  virtual void Multiply(const Product& product) = 0;

  // Records the time at which the current work of that stream is done. Returns
  // the index of the mark, from 0. For timelines.
  virtual int Mark(Stream stream) = 0;
  // Blocks until all marks are reached, and returns the time of each after the
  // first mark. Then the next mark has index 0 again.
  virtual std::vector<Duration> ReadMarks() = 0;

 protected:
  CudaStream Of(Stream which) const {
    return which == Stream::kCompute ? stream() : side_stream();
  }
};

}  // namespace muster::models::cuda

#endif  // MUSTER_MODELS_CUDA_DEVICE_H_
