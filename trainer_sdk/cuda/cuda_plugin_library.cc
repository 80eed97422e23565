// Defines MusterCudaPlugin, the only symbol that libmuster_cuda.so exports.
#include "trainer_sdk/cuda/cuda_plugin.h"

extern "C" __attribute__((visibility("default"))) const muster::CudaPlugin*
MusterCudaPlugin() {
  return &muster::LinkedCudaPlugin();
}
