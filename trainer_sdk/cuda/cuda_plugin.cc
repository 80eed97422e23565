#include "trainer_sdk/cuda/cuda_plugin.h"

namespace muster {

absl::StatusOr<const CudaPlugin*> LoadCudaPlugin() {
  static const auto* const plugin =
      new absl::StatusOr<const CudaPlugin*>(LoadPlugin<CudaPlugin>(
          {.file = "libmuster_cuda.so",
           .folder = "trainer_sdk/cuda",
           .user = "an NVIDIA GPU as a device",
           .if_not_loaded = "install it anew on this system (tools/install)",
           .if_missing =
               "Muster's tools/install puts it into PREFIX/lib if it finds the "
               "CUDA toolkit (CUDA_HOME or /usr/local/cuda)"},
          "MusterCudaPlugin"));
  return *plugin;
}

}  // namespace muster
