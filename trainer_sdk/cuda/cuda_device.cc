#include "trainer_sdk/cuda/cuda_device.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/dynamic_library.h"
#include "trainer_sdk/cuda/cuda_plugin.h"

namespace muster {

absl::Status CudaDevice::Prepare(int ordinal) {
  const int32_t used = plugin_.use_device(ordinal, &reads_in_place_);
  if (used == CudaPlugin::kInsufficientDriver) {
    // First check whether a driver is installed: without one, CUDA's runtime
    // would report that the driver is too old.
    absl::Status none = CheckDriverIsThere();
    if (!none.ok()) return none;
  }
  absl::Status status = StatusOf("cudaSetDevice", used);
  for (CudaStream* const stream : {&stream_, &side_stream_}) {
    if (!status.ok()) return status;
    status = StatusOf("cudaStreamCreateWithFlags", plugin_.new_stream(stream));
  }
  if (!status.ok()) return status;
  return StatusOf(
      "cudaEventCreateWithFlags",
      plugin_.new_event(&reached_, CudaPlugin::EventKind::kWithoutTime));
}

CudaDevice::~CudaDevice() {
  for (CudaStream stream : {stream_, side_stream_}) {
    if (stream != nullptr) plugin_.delete_stream(stream);
  }
  if (reached_ != nullptr) plugin_.delete_event(reached_);
  for (CudaEvent mark : marks_) plugin_.delete_event(mark);
}

void CudaDevice::WaitForOther(Stream stream) {
  CudaStream const other = Of(
      stream == Stream::kCompute ? Stream::kCommunication : Stream::kCompute);
  // One event, reached_, serves all calls of WaitForOther: cudaStreamWaitEvent
  // waits for the latest cudaEventRecord that precedes the wait, even if the
  // event is recorded again later.
  Note("cudaEventRecord", plugin_.record(reached_, other));
  Note("cudaStreamWaitEvent", plugin_.stream_waits(Of(stream), reached_));
}

absl::StatusOr<std::shared_ptr<void>> CudaDevice::Allocate(int64_t bytes) {
  void* memory = nullptr;
  // If there are few weights, a rank's share of them may have 0 bytes, but
  // cudaMalloc needs at least 1 byte.
  absl::Status status =
      StatusOf(absl::StrCat("cudaMalloc of ", bytes, " bytes"),
               plugin_.allocate(&memory, std::max<int64_t>(1, bytes)));
  if (!status.ok()) return status;
  return std::shared_ptr<void>(memory, plugin_.free);
}

void CudaDevice::CopyIn(void* to, const void* from, int64_t bytes) {
  // cudaMemcpyAsync reads pageable host memory before it returns, so the caller
  // may then change this memory. Pinned memory, and memory that the GPU reads
  // in place, may still be read after cudaMemcpyAsync has returned. In these
  // two cases, wait until the copy is done.
  Note(
      "cudaMemcpyAsync to the device",
      plugin_.copy(to, from, bytes, CudaPlugin::CopyKind::kToDevice, stream()));
  if (reads_in_place_ != 0 || plugin_.is_pinned(from)) Wait();
}

void CudaDevice::CopyOut(void* to, const void* from, int64_t bytes) {
  Note("cudaMemcpyAsync from the device",
       plugin_.copy(to, from, bytes, CudaPlugin::CopyKind::kToHost, stream()));
  CudaDevice::Wait();
}

void CudaDevice::Copy(Stream stream, void* to, const void* from,
                      int64_t bytes) {
  Note("cudaMemcpyAsync on the device",
       plugin_.copy(to, from, bytes, CudaPlugin::CopyKind::kOnDevice,
                    Of(stream)));
}

void CudaDevice::Zero(Stream stream, void* at, int64_t bytes) {
  Note("cudaMemsetAsync", plugin_.zero(at, bytes, Of(stream)));
}

void CudaDevice::Convert(Stream stream, const TensorData& from,
                         const TensorData& to, DType precision) {
  if (from.dtype == to.dtype && precision == to.dtype) {
    Copy(stream, to.data, from.data, from.count * SizeOf(from.dtype));
  } else {
    plugin_.convert(from.data, from.dtype, from.count, to.data, to.dtype,
                    precision, Of(stream));
  }
}

void CudaDevice::AddSquares(const TensorData& values, int64_t* words) {
  plugin_.add_squares(values.data, values.dtype, values.count, words, stream());
}

absl::Status CudaDevice::Update(const UpdateRule& rule,
                                const OptimizerStep& step,
                                const WeightUpdate& update) {
  const cuda::UpdateArrays arrays{
      .count = update.count,
      .gradient = update.gradient.data,
      .gradient_type = update.gradient.dtype,
      .weights = update.weights,
      .first = update.states.empty() ? nullptr : update.states[0],
      .second = update.states.size() < 2 ? nullptr : update.states[1],
      .values = update.values.data,
      .values_type = update.values.dtype,
      .precision = update.precision};
  const bool decays = update.decay == WeightDecay::kApplied;
  if (rule.adamw() != nullptr) {
    AdamWOptions options = *rule.adamw();
    if (!decays) options.weight_decay = 0;
    plugin_.adamw_update(&options, &step, &arrays, stream());
  } else if (rule.sgd() != nullptr) {
    SgdOptions options = *rule.sgd();
    if (!decays) options.weight_decay = 0;
    plugin_.sgd_update(&options, &step, &arrays, stream());
  } else {
    return absl::InvalidArgumentError(
        "a GPU updates weights by AdamWRule or SgdRule, not by a rule of the "
        "caller's own");
  }
  return absl::OkStatus();
}

void CudaDevice::Wait() {
  Note("cudaStreamSynchronize", plugin_.wait_for_stream(stream()));
}

int CudaDevice::Mark(Stream stream) {
  if (marked_ == marks_.size()) {
    CudaEvent made = nullptr;
    Note("cudaEventCreate",
         plugin_.new_event(&made, CudaPlugin::EventKind::kWithTime));
    marks_.push_back(made);
  }
  Note("cudaEventRecord", plugin_.record(marks_[marked_], Of(stream)));
  return static_cast<int>(marked_++);
}

std::vector<Duration> CudaDevice::ReadMarks() {
  std::vector<Duration> times;
  for (size_t i = 0; i < marked_; ++i) {
    float milliseconds = 0;
    Note("cudaEventElapsedTime",
         plugin_.milliseconds(&milliseconds, marks_[0], marks_[i]));
    times.push_back(std::chrono::duration_cast<Duration>(
        std::chrono::duration<double, std::milli>(milliseconds)));
  }
  marked_ = 0;
  return times;
}

absl::Status CudaDevice::status() {
  Note("a kernel's launch", plugin_.last_error());
  return status_;
}

void CudaDevice::Note(absl::Status status) {
  if (status_.ok()) status_ = std::move(status);
}

void CudaDevice::Note(const char* call, int32_t result) {
  if (result != 0) Note(StatusOf(call, result));
}

absl::Status CudaDevice::StatusOf(const std::string& call,
                                  int32_t result) const {
  if (result == 0) return absl::OkStatus();
  const std::string text =
      absl::StrCat(call, " says: ", plugin_.error_text(result));
  return result == CudaPlugin::kOutOfMemory ? absl::ResourceExhaustedError(text)
                                            : absl::UnavailableError(text);
}

absl::StatusOr<std::unique_ptr<CudaDevice>> OpenCudaDevice(int ordinal) {
  const absl::StatusOr<const CudaPlugin*> plugin = LoadCudaPlugin();
  if (!plugin.ok()) return plugin.status();
  auto device = std::make_unique<CudaDevice>(**plugin);
  if (absl::Status status = device->Prepare(ordinal); !status.ok()) {
    return status;
  }
  return device;
}

int CountCudaDevices(const CudaPlugin& plugin) {
  int count = 0;
  return plugin.count_devices(&count) == 0 ? count : 0;
}

absl::StatusOr<int> ChooseCudaDevice(int visible, int local_rank,
                                     int local_world_size) {
  // If one GPU or none is visible, the result is 0. If there is none, opening
  // GPU 0 then returns an error that names the problem.
  if (visible <= 1) return 0;
  if (visible >= local_world_size) return local_rank;
  return absl::FailedPreconditionError(
      absl::StrCat("there are ", visible, " GPUs for the ", local_world_size,
                   " workers of this host: start as many workers as GPUs "
                   "(--nproc-per-node gpu), or show each worker its own by "
                   "CUDA_VISIBLE_DEVICES"));
}

absl::StatusOr<std::unique_ptr<CudaDevice>> OpenLocalCudaDevice(
    int local_rank, int local_world_size) {
  const absl::StatusOr<const CudaPlugin*> plugin = LoadCudaPlugin();
  if (!plugin.ok()) return plugin.status();
  const absl::StatusOr<int> ordinal = ChooseCudaDevice(
      CountCudaDevices(**plugin), local_rank, local_world_size);
  if (!ordinal.ok()) return ordinal.status();
  return OpenCudaDevice(*ordinal);
}

absl::Status CheckDriverIsThere(const std::string& name) {
  const absl::StatusOr<DynamicLibrary> driver = DynamicLibrary::Load(name);
  if (driver.ok()) return absl::OkStatus();
  return absl::UnavailableError(
      absl::StrCat("no NVIDIA driver: ", driver.status().message()));
}

}  // namespace muster
