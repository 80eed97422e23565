#include <cuda_runtime.h>

#include "tests/gpu/device_probe.h"

namespace muster {
namespace {

__global__ void Double(float* values, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) values[i] *= 2;
}

}  // namespace

int DeviceCount() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

std::string DoubleOnDevice(std::vector<float>& values) {
  constexpr int kThreads = 128;
  const int count = static_cast<int>(values.size());
  const size_t bytes = values.size() * sizeof(float);
  float* device = nullptr;
  cudaError_t error = cudaMalloc(&device, bytes);
  if (error == cudaSuccess) {
    error = cudaMemcpy(device, values.data(), bytes, cudaMemcpyHostToDevice);
  }
  if (error == cudaSuccess) {
    Double<<<(count + kThreads - 1) / kThreads, kThreads>>>(device, count);
    error = cudaMemcpy(values.data(), device, bytes, cudaMemcpyDeviceToHost);
  }
  cudaFree(device);
  return error == cudaSuccess ? "" : cudaGetErrorString(error);
}

}  // namespace muster
