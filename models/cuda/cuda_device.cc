#include "models/cuda/cuda_device.h"

#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "models/cuda/driver_presence.h"

namespace muster::models::cuda {
namespace {

absl::Status StatusOf(const char* call, cudaError_t result) {
  if (result == cudaSuccess) return absl::OkStatus();
  const std::string text =
      absl::StrCat(call, " says: ", cudaGetErrorString(result));
  return result == cudaErrorMemoryAllocation
             ? absl::ResourceExhaustedError(text)
             : absl::UnavailableError(text);
}

}  // namespace

absl::StatusOr<std::unique_ptr<CudaDevice>> CudaDevice::Open(int ordinal) {
  std::unique_ptr<CudaDevice> device(new CudaDevice);
  if (absl::Status status = device->Prepare(ordinal); !status.ok()) {
    return status;
  }
  return device;
}

absl::Status CudaDevice::Prepare(int ordinal) {
  const cudaError_t chosen = cudaSetDevice(ordinal);
  if (chosen == cudaErrorInsufficientDriver) {
    // This error also occurs if there is no driver at all.
    absl::Status none = CheckDriverIsThere();
    if (!none.ok()) return none;
  }
  absl::Status status = StatusOf("cudaSetDevice", chosen);
  if (!status.ok()) return status;
  status =
      StatusOf("cudaDeviceGetAttribute",
               cudaDeviceGetAttribute(
                   &reads_in_place_,
                   cudaDevAttrPageableMemoryAccessUsesHostPageTables, ordinal));
  if (!status.ok()) return status;
  for (CudaStream* const stream : {&stream_, &side_stream_}) {
    // Not synchronised with the default stream, on which they would wait for
    // each other.
    status = StatusOf("cudaStreamCreateWithFlags",
                      cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking));
    if (!status.ok()) return status;
  }
  status =
      StatusOf("cudaEventCreateWithFlags",
               cudaEventCreateWithFlags(&reached_, cudaEventDisableTiming));
  if (!status.ok()) return status;
  auto lt = CublasLt::Load();
  if (!lt.ok()) return lt.status();
  auto workspace =
      Allocate(static_cast<int64_t>(CublasProducts::kWorkspaceBytes));
  if (!workspace.ok()) return workspace.status();
  workspace_ = *std::move(workspace);
  auto products = CublasProducts::Create(*std::move(lt), workspace_.get());
  if (!products.ok()) return products.status();
  products_ = *std::move(products);
  return absl::OkStatus();
}

CudaDevice::~CudaDevice() {
  for (CudaStream stream : {stream_, side_stream_}) {
    if (stream == nullptr) continue;
    cudaStreamSynchronize(stream);
    cudaStreamDestroy(stream);
  }
  if (reached_ != nullptr) cudaEventDestroy(reached_);
  for (CudaEvent mark : marks_) cudaEventDestroy(mark);
}

int CudaDevice::Count() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

void CudaDevice::WaitForOther(Stream stream) {
  CudaStream const other = stream == Stream::kCompute ? side_stream_ : stream_;
  // A wait refers to the last record before it, so one event is enough.
  Note(StatusOf("cudaEventRecord", cudaEventRecord(reached_, other)));
  Note(StatusOf("cudaStreamWaitEvent",
                cudaStreamWaitEvent(Of(stream), reached_)));
}

absl::StatusOr<std::shared_ptr<void>> CudaDevice::Allocate(int64_t bytes) {
  void* memory = nullptr;
  // A share of a few weights may be empty, but an allocation may not.
  const cudaError_t result =
      cudaMalloc(&memory, static_cast<size_t>(std::max<int64_t>(1, bytes)));
  if (result != cudaSuccess) {
    // Clears the error, so that a later check of the last error does not find
    // it.
    cudaGetLastError();
    return absl::Status(StatusOf("cudaMalloc", result).code(),
                        absl::StrCat("cudaMalloc of ", bytes, " bytes says: ",
                                     cudaGetErrorString(result)));
  }
  return std::shared_ptr<void>(memory, [](void* data) { cudaFree(data); });
}

void CudaDevice::CopyIn(void* to, const void* from, int64_t bytes) {
  // For pageable memory the runtime makes its copy before it returns.
  Note(StatusOf("cudaMemcpyAsync to the device",
                cudaMemcpyAsync(to, from, static_cast<size_t>(bytes),
                                cudaMemcpyHostToDevice, stream_)));
  if (reads_in_place_ != 0) Wait();
}

void CudaDevice::CopyOut(void* to, const void* from, int64_t bytes) {
  Note(StatusOf("cudaMemcpyAsync from the device",
                cudaMemcpyAsync(to, from, static_cast<size_t>(bytes),
                                cudaMemcpyDeviceToHost, stream_)));
  Wait();
}

void CudaDevice::Copy(Stream stream, void* to, const void* from,
                      int64_t bytes) {
  Note(StatusOf("cudaMemcpyAsync on the device",
                cudaMemcpyAsync(to, from, static_cast<size_t>(bytes),
                                cudaMemcpyDeviceToDevice, Of(stream))));
}

void CudaDevice::Zero(Stream stream, void* at, int64_t bytes) {
  Note(
      StatusOf("cudaMemsetAsync",
               cudaMemsetAsync(at, 0, static_cast<size_t>(bytes), Of(stream))));
}

void CudaDevice::Multiply(const Product& product) {
  Note(products_->Multiply(product, stream_));
}

void CudaDevice::Wait() {
  Note(StatusOf("cudaStreamSynchronize", cudaStreamSynchronize(stream_)));
}

int CudaDevice::Mark(Stream stream) {
  if (marked_ == marks_.size()) {
    CudaEvent made = nullptr;
    // With timing, unlike reached_.
    Note(StatusOf("cudaEventCreate", cudaEventCreate(&made)));
    marks_.push_back(made);
  }
  Note(StatusOf("cudaEventRecord",
                cudaEventRecord(marks_[marked_], Of(stream))));
  return static_cast<int>(marked_++);
}

std::vector<Duration> CudaDevice::ReadMarks() {
  std::vector<Duration> times;
  for (size_t i = 0; i < marked_; ++i) {
    Note(StatusOf("cudaEventSynchronize", cudaEventSynchronize(marks_[i])));
    float milliseconds = 0;
    Note(StatusOf("cudaEventElapsedTime",
                  cudaEventElapsedTime(&milliseconds, marks_[0], marks_[i])));
    times.push_back(std::chrono::duration_cast<Duration>(
        std::chrono::duration<double, std::milli>(milliseconds)));
  }
  marked_ = 0;
  return times;
}

absl::Status CudaDevice::status() {
  Note(StatusOf("a kernel's launch", cudaGetLastError()));
  return status_;
}

void CudaDevice::Note(absl::Status status) {
  if (status_.ok()) status_ = std::move(status);
}

}  // namespace muster::models::cuda
