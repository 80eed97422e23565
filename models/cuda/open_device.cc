#include "models/cuda/open_device.h"

#include <utility>

#include "models/cuda/cublas_products.h"
#include "trainer_sdk/cuda/cuda_plugin.h"

namespace muster::models::cuda {

absl::StatusOr<std::unique_ptr<Device>> OpenDevice(int ordinal) {
  auto device = std::make_unique<Device>(LinkedCudaPlugin());
  if (absl::Status status = device->Prepare(ordinal); !status.ok()) {
    return status;
  }
  auto lt = CublasLt::Load();
  if (!lt.ok()) return lt.status();
  auto workspace =
      device->Allocate(static_cast<int64_t>(CublasProducts::kWorkspaceBytes));
  if (!workspace.ok()) return workspace.status();
  auto products = CublasProducts::Create(*std::move(lt), *std::move(workspace));
  if (!products.ok()) return products.status();
  device->SetProducts(*std::move(products));
  return device;
}

int CountDevices() { return CountCudaDevices(LinkedCudaPlugin()); }

}  // namespace muster::models::cuda
