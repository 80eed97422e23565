#ifndef MUSTER_TRAINER_SDK_CUDA_CUDA_DEVICE_H_
#define MUSTER_TRAINER_SDK_CUDA_CUDA_DEVICE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/time.h"
#include "trainer_sdk/cuda/cuda_types.h"
#include "trainer_sdk/device/device.h"

namespace muster {

struct CudaPlugin;

// An NVIDIA GPU. The GPU must be the current CUDA device of every thread that
// uses this object.
class CudaDevice : public Device {
 public:
  // Makes a device that calls CUDA through the functions of `plugin`. Call
  // Prepare before any other method.
  explicit CudaDevice(const CudaPlugin& plugin) : plugin_(plugin) {}
  ~CudaDevice() override;
  CudaDevice(const CudaDevice&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;

  // Selects GPU `ordinal` (from 0, among the GPUs visible to this process) for
  // the calling thread, and creates the streams. Unavailable: there is no
  // driver or no GPU, or a CUDA call failed; the message names the call and
  // CUDA's error.
  absl::Status Prepare(int ordinal);

  // The cudaStream_t of Stream::kCompute (`stream`) and of
  // Stream::kCommunication (`side_stream`).
  virtual CudaStream stream() const { return stream_; }
  virtual CudaStream side_stream() const { return side_stream_; }
  void* handle(Stream which) const final { return Of(which); }

  absl::StatusOr<std::shared_ptr<void>> Allocate(int64_t bytes) override;
  void WaitForOther(Stream stream) override;
  void CopyIn(void* to, const void* from, int64_t bytes) override;
  void CopyOut(void* to, const void* from, int64_t bytes) override;
  void Copy(Stream stream, void* to, const void* from, int64_t bytes) override;
  void Zero(Stream stream, void* at, int64_t bytes) override;
  void Convert(Stream stream, const TensorData& from, const TensorData& to,
               DType precision) override;
  void AddSquares(const TensorData& values, int64_t* words) override;
  // Updates weights by an AdamWRule or a SgdRule. InvalidArgument: `rule` is of
  // another class.
  absl::Status Update(const UpdateRule& rule, const OptimizerStep& step,
                      const WeightUpdate& update) override;
  void Wait() override;
  absl::Status status() override;

  // Enqueues a time mark on `stream`, for timelines: the mark is reached when
  // all earlier work on `stream` is done. Returns the index of the mark,
  // counted from 0.
  virtual int Mark(Stream stream);
  // Blocks until the device has reached all time marks. Returns the time of
  // each mark, counted from the first mark, and forgets the marks: the next
  // call of Mark returns 0 again.
  virtual std::vector<Duration> ReadMarks();

 protected:
  CudaStream Of(Stream which) const {
    return which == Stream::kCompute ? stream() : side_stream();
  }
  // Stores `status` as the result of status(), unless an earlier error is
  // stored.
  void Note(absl::Status status);

 private:
  absl::Status StatusOf(const std::string& call, int32_t result) const;
  void Note(const char* call, int32_t result);

  const CudaPlugin& plugin_;
  absl::Status status_;
  int reads_in_place_ = 0;
  CudaStream stream_ = nullptr;
  CudaStream side_stream_ = nullptr;
  CudaEvent reached_ = nullptr;
  // CUDA events for time marks, kept for reuse. The first `marked_` events
  // belong to the marks since the last call of ReadMarks.
  std::vector<CudaEvent> marks_;
  size_t marked_ = 0;
};

// Loads libmuster_cuda.so and opens GPU `ordinal` (from 0, among the GPUs
// visible to this process). NotFound: the plugin is not installed;
// tools/install builds it only where it finds the CUDA toolkit. Unavailable:
// CudaDevice::Prepare failed.
absl::StatusOr<std::unique_ptr<CudaDevice>> OpenCudaDevice(int ordinal);

// The number of GPUs visible to this process; 0 without a driver.
int CountCudaDevices(const CudaPlugin& plugin);

// Returns the index, among the `visible` GPUs, of the GPU that a worker uses.
// The index is the worker's local rank, as in PyTorch's scripts. If only one
// GPU is visible, the index is 0: either each worker sees its own GPU, or
// several workers share one GPU. FailedPrecondition: several GPUs are visible,
// but fewer GPUs than this host has workers. Pure.
absl::StatusOr<int> ChooseCudaDevice(int visible, int local_rank,
                                     int local_world_size);

// Opens the GPU that ChooseCudaDevice chooses. Errors are those of
// ChooseCudaDevice and OpenCudaDevice.
absl::StatusOr<std::unique_ptr<CudaDevice>> OpenLocalCudaDevice(
    int local_rank, int local_world_size);

// Checks that NVIDIA's driver is installed. Without this check, CUDA's runtime
// would report a missing driver as too old. Unavailable: there is no driver;
// the message is that of the dynamic loader.
absl::Status CheckDriverIsThere(const std::string& name = "libcuda.so.1");

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_CUDA_CUDA_DEVICE_H_
