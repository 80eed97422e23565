// What libmuster_cuda.so shows.
#include "trainer_sdk/cuda/cuda_plugin.h"

extern "C" __attribute__((visibility("default"))) const muster::CudaPlugin*
MusterCudaPlugin() {
  return &muster::LinkedCudaPlugin();
}
