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
  // Makes a device that calls the functions of `plugin`. Call Prepare before
  // any other method.
  explicit CudaDevice(const CudaPlugin& plugin) : plugin_(plugin) {}
  ~CudaDevice() override;
  CudaDevice(const CudaDevice&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;

  // Makes GPU `ordinal` of those visible to this process the current one, and
  // creates the streams. Unavailable: there is no driver or no GPU, or a CUDA
  // call failed; names the call and its message.
  absl::Status Prepare(int ordinal);

  // The streams kCompute and kCommunication, as cudaStream_t.
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
  // Supports AdamWRule and SgdRule.
  absl::Status Update(const UpdateRule& rule, const OptimizerStep& step,
                      const WeightUpdate& update) override;
  void Wait() override;
  absl::Status status() override;

  // Records the time at which the work that is now on `stream` is done, for
  // timelines. Returns the index of this mark, counted from 0.
  virtual int Mark(Stream stream);
  // Blocks until all marks are reached, and returns the times of all marks,
  // counted from the first. The next mark has index 0 again.
  virtual std::vector<Duration> ReadMarks();

 protected:
  CudaStream Of(Stream which) const {
    return which == Stream::kCompute ? stream() : side_stream();
  }
  // Makes `status` the result of status(), unless there was an error before.
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
  // The events of marks. They are reused; the first marked_ events are in use.
  std::vector<CudaEvent> marks_;
  size_t marked_ = 0;
};

// Loads libmuster_cuda.so and opens GPU `ordinal` of those visible to this
// process, from 0. NotFound: there is no plugin; tools/install builds it only
// where it finds the CUDA toolkit. Unavailable: CudaDevice::Prepare failed.
absl::StatusOr<std::unique_ptr<CudaDevice>> OpenCudaDevice(int ordinal);

// The number of GPUs visible to this process; 0 without a driver.
int CountCudaDevices(const CudaPlugin& plugin);

// The index of the GPU that a worker uses, among the `visible` GPUs: the
// worker's local rank, as in PyTorch's scripts. If only one GPU is visible, its
// index is returned: either each worker sees its own GPU, or several workers
// share one. FailedPrecondition: several GPUs are visible, but fewer than there
// are workers on this host. Pure.
absl::StatusOr<int> ChooseCudaDevice(int visible, int local_rank,
                                     int local_world_size);

// Opens the GPU that ChooseCudaDevice chooses. Errors are those of
// ChooseCudaDevice and OpenCudaDevice.
absl::StatusOr<std::unique_ptr<CudaDevice>> OpenLocalCudaDevice(
    int local_rank, int local_world_size);

// Checks that NVIDIA's driver is installed. CUDA's runtime reports a missing
// driver as one that is too old. Unavailable: there is no driver; the message
// is the loader's.
absl::Status CheckDriverIsThere(const std::string& name = "libcuda.so.1");

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_CUDA_CUDA_DEVICE_H_
