#include "agent/health/gpu_devices.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "agent/health/small_file.h"

namespace muster::agent {

int CountGpuDevices(const std::string& folder) {
  return static_cast<int>(
      std::ranges::count_if(ListFolder(folder), [](const std::string& name) {
        return absl::StartsWith(name, "nvidia") && name.size() > 6 &&
               absl::ascii_isdigit(name[6]);
      }));
}

}  // namespace muster::agent
