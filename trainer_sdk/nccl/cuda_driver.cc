#include "trainer_sdk/nccl/cuda_driver.h"

#include "absl/strings/str_cat.h"
#include "base/dynamic_library.h"

namespace muster {
namespace {

constexpr int kSuccess = 0;
constexpr int kNotReady = 600;
// CU_EVENT_DISABLE_TIMING: the event stores no time stamp, which is cheaper.
constexpr unsigned kDisableTiming = 2;

}  // namespace

absl::StatusOr<std::shared_ptr<const CudaDriver>> CudaDriver::Load(
    const std::string& name) {
  const absl::StatusOr<DynamicLibrary> file = DynamicLibrary::Load(name);
  if (!file.ok()) {
    return absl::NotFoundError(absl::StrCat("there is no NVIDIA driver here: ",
                                            file.status().message()));
  }
  std::shared_ptr<CudaDriver> cuda(new CudaDriver);
  std::string missing;
  const auto needed = [&](const char* symbol, auto* function) {
    if (!file->Find(symbol, function) && missing.empty()) missing = symbol;
  };
  needed("cuInit", &cuda->init_);
  needed("cuDeviceGetCount", &cuda->device_count_of_);
  needed("cuDeviceGet", &cuda->device_of_);
  needed("cuDeviceGetName", &cuda->name_of_);
  needed("cuGetErrorString", &cuda->get_error_string_);
  needed("cuCtxGetDevice", &cuda->context_device_);
  needed("cuDevicePrimaryCtxRetain", &cuda->retain_primary_);
  needed("cuCtxPushCurrent_v2", &cuda->push_context_);
  needed("cuCtxPopCurrent_v2", &cuda->pop_context_);
  needed("cuEventCreate", &cuda->create_event_);
  needed("cuEventDestroy_v2", &cuda->destroy_event_);
  needed("cuEventRecord", &cuda->record_event_);
  needed("cuEventQuery", &cuda->query_event_);
  needed("cuMemAlloc_v2", &cuda->allocate_);
  needed("cuMemFree_v2", &cuda->free_);
  needed("cuModuleLoadData", &cuda->load_module_);
  needed("cuModuleGetFunction", &cuda->function_of_);
  needed("cuLaunchKernel", &cuda->launch_);
  if (!missing.empty()) {
    return absl::NotFoundError(
        absl::StrCat(name, " is no CUDA driver: it has no ", missing));
  }
  if (const Result result = cuda->init_(0); result != kSuccess) {
    return cuda->Failed("cuInit", result);
  }
  const Result result = cuda->device_count_of_(&cuda->device_count_);
  if (result != kSuccess) return cuda->Failed("cuDeviceGetCount", result);
  if (cuda->device_count_ == 0) {
    return absl::FailedPreconditionError(
        "the NVIDIA driver shows this process no GPU; look at "
        "CUDA_VISIBLE_DEVICES");
  }
  return std::shared_ptr<const CudaDriver>(std::move(cuda));
}

absl::Status CudaDriver::Failed(const char* what, Result result) const {
  const char* text = nullptr;
  get_error_string_(result, &text);
  return absl::FailedPreconditionError(absl::StrCat(
      "CUDA's ", what, " says: ",
      text == nullptr ? absl::StrCat("error ", result) : std::string(text)));
}

absl::StatusOr<std::string> CudaDriver::Model(int device) const {
  int handle = 0;
  Result result = device_of_(&handle, device);
  if (result != kSuccess) return Failed("cuDeviceGet", result);
  char name[256] = "";
  result = name_of_(name, sizeof(name), handle);
  if (result != kSuccess) return Failed("cuDeviceGetName", result);
  name[sizeof(name) - 1] = '\0';
  return std::string(name);
}

int CudaDriver::CurrentDevice() const {
  int device = -1;
  return context_device_(&device) == kSuccess ? device : -1;
}

absl::StatusOr<CudaContext> CudaDriver::PrimaryContext(int device) const {
  if (device < 0 || device >= device_count_) {
    return absl::InvalidArgumentError(
        absl::StrCat("there is no CUDA device ", device, "; this process sees ",
                     device_count_, ", from 0"));
  }
  int handle = 0;
  Result result = device_of_(&handle, device);
  if (result != kSuccess) return Failed("cuDeviceGet", result);
  CudaContext context = nullptr;
  result = retain_primary_(&context, handle);
  if (result != kSuccess) return Failed("cuDevicePrimaryCtxRetain", result);
  return context;
}

absl::Status CudaDriver::Push(CudaContext context) const {
  const Result result = push_context_(context);
  return result == kSuccess ? absl::OkStatus()
                            : Failed("cuCtxPushCurrent", result);
}

void CudaDriver::Pop() const {
  CudaContext popped = nullptr;
  pop_context_(&popped);
}

absl::StatusOr<CudaEvent> CudaDriver::NewEvent() const {
  CudaEvent event = nullptr;
  const Result result = create_event_(&event, kDisableTiming);
  if (result != kSuccess) return Failed("cuEventCreate", result);
  return event;
}

void CudaDriver::DestroyEvent(CudaEvent event) const { destroy_event_(event); }

absl::Status CudaDriver::Record(CudaEvent event,
                                nccl::CudaStream stream) const {
  const Result result = record_event_(event, stream);
  return result == kSuccess ? absl::OkStatus()
                            : Failed("cuEventRecord", result);
}

absl::StatusOr<bool> CudaDriver::HasHappened(CudaEvent event) const {
  const Result result = query_event_(event);
  if (result == kSuccess) return true;
  if (result == kNotReady) return false;
  return Failed("cuEventQuery", result);
}

absl::StatusOr<void*> CudaDriver::Allocate(size_t bytes) const {
  if (bytes == 0) return static_cast<void*>(nullptr);
  DevicePointer memory = 0;
  const Result result = allocate_(&memory, bytes);
  if (result != kSuccess) return Failed("cuMemAlloc", result);
  return reinterpret_cast<void*>(memory);
}

void CudaDriver::Free(void* memory) const {
  if (memory != nullptr) free_(reinterpret_cast<DevicePointer>(memory));
}

absl::StatusOr<CudaFunction> CudaDriver::Compile(const char* ptx,
                                                 const char* name) const {
  ::CUmod_st* module = nullptr;
  Result result = load_module_(&module, ptx);
  if (result != kSuccess) return Failed("cuModuleLoadData", result);
  CudaFunction kernel = nullptr;
  result = function_of_(&kernel, module, name);
  if (result != kSuccess) return Failed("cuModuleGetFunction", result);
  return kernel;
}

absl::Status CudaDriver::Launch(CudaFunction kernel, unsigned blocks,
                                unsigned threads, void** arguments,
                                nccl::CudaStream stream) const {
  const Result result = launch_(kernel, blocks, 1, 1, threads, 1, 1, 0, stream,
                                arguments, nullptr);
  return result == kSuccess ? absl::OkStatus()
                            : Failed("cuLaunchKernel", result);
}

}  // namespace muster
