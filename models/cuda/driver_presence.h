#ifndef MUSTER_MODELS_CUDA_DRIVER_PRESENCE_H_
#define MUSTER_MODELS_CUDA_DRIVER_PRESENCE_H_

#include <string>

#include "absl/status/status.h"

namespace muster::cuda {

// Whether this machine has NVIDIA's driver. Where it has none, CUDA's runtime
// speaks of a driver that is too old. Unavailable: there is none, and the
// loader's words.
absl::Status CheckDriverIsThere(const std::string& name = "libcuda.so.1");

}  // namespace muster::cuda

#endif  // MUSTER_MODELS_CUDA_DRIVER_PRESENCE_H_
