#include "tests/gpu/device_memory.h"

#include "base/check.h"
#include "base/dynamic_library.h"

namespace muster {

absl::StatusOr<std::shared_ptr<DeviceMemory>> DeviceMemory::Open(
    const std::string& cuda_library) {
  std::shared_ptr<DeviceMemory> memory(new DeviceMemory);
  auto cuda = CudaDriver::Load(cuda_library);
  if (!cuda.ok()) return cuda.status();
  memory->cuda_ = *std::move(cuda);
  const auto context = memory->cuda_->PrimaryContext(0);
  if (!context.ok()) return context.status();
  if (absl::Status pushed = memory->cuda_->Push(*context); !pushed.ok()) {
    return pushed;
  }
  const auto file = DynamicLibrary::Load(cuda_library);
  if (!file.ok()) return file.status();
  if (!file->Find("cuMemcpyHtoD_v2", &memory->to_device_) ||
      !file->Find("cuMemcpyDtoH_v2", &memory->to_host_) ||
      !file->Find("cuStreamSynchronize", &memory->synchronize_)) {
    return absl::NotFoundError("the CUDA driver cannot copy");
  }
  return memory;
}

std::shared_ptr<void> DeviceMemory::Allocate(int64_t bytes) {
  const auto memory = cuda_->Allocate(static_cast<size_t>(bytes));
  MUSTER_CHECK(memory.ok()) << memory.status();
  return std::shared_ptr<void>(
      *memory, [cuda = cuda_](void* data) { cuda->Free(data); });
}

void DeviceMemory::Write(void* to, const void* from, int64_t bytes) {
  if (bytes == 0) return;
  const int error = to_device_(reinterpret_cast<uint64_t>(to), from,
                               static_cast<size_t>(bytes));
  MUSTER_CHECK(error == 0) << "cuMemcpyHtoD: " << error;
}

void DeviceMemory::Read(void* to, const void* from, int64_t bytes) {
  if (bytes == 0) return;
  const int error = to_host_(to, reinterpret_cast<uint64_t>(from),
                             static_cast<size_t>(bytes));
  MUSTER_CHECK(error == 0) << "cuMemcpyDtoH: " << error;
}

}  // namespace muster
