#include "models/cuda/driver_presence.h"

#include "absl/strings/str_cat.h"
#include "base/dynamic_library.h"

namespace muster::models::cuda {

absl::Status CheckDriverIsThere(const std::string& name) {
  const absl::StatusOr<DynamicLibrary> driver = DynamicLibrary::Load(name);
  if (driver.ok()) return absl::OkStatus();
  return absl::UnavailableError(
      absl::StrCat("no NVIDIA driver: ", driver.status().message()));
}

}  // namespace muster::models::cuda
