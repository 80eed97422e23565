#ifndef MUSTER_MODELS_GPT_CUDA_TESTING_READ_GRADIENTS_H_
#define MUSTER_MODELS_GPT_CUDA_TESTING_READ_GRADIENTS_H_

#include <vector>

#include "models/cuda/device.h"
#include "models/gpt_cuda/cuda_gpt_weights.h"

namespace muster::models::cuda {

// Copies each tensor's gradient to the host. Blocks.
template <typename T>
std::vector<std::vector<float>> ReadGradients(
    Device& device, const CudaGptWeights<T>& weights) {
  std::vector<std::vector<float>> all;
  for (const GptTensor& tensor : weights.tensors()) {
    const int64_t count = tensor.count();
    std::vector<float> gradient(static_cast<size_t>(count));
    device.CopyOut(gradient.data(), weights.Find(tensor.name).gradient,
                   count * static_cast<int64_t>(sizeof(float)));
    all.push_back(std::move(gradient));
  }
  return all;
}

}  // namespace muster::models::cuda

#endif  // MUSTER_MODELS_GPT_CUDA_TESTING_READ_GRADIENTS_H_
