#ifndef MUSTER_MODELS_CUDA_DRIVER_PRESENCE_H_
#define MUSTER_MODELS_CUDA_DRIVER_PRESENCE_H_

#include <string>

#include "absl/status/status.h"

namespace muster::models::cuda {

// Checks that NVIDIA's driver is installed. Without a driver, CUDA's runtime
// reports one that is too old. Unavailable: there is none; gives the loader's
// message.
absl::Status CheckDriverIsThere(const std::string& name = "libcuda.so.1");

}  // namespace muster::models::cuda

#endif  // MUSTER_MODELS_CUDA_DRIVER_PRESENCE_H_
