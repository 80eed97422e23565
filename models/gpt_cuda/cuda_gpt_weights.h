#ifndef MUSTER_MODELS_GPT_CUDA_CUDA_GPT_WEIGHTS_H_
#define MUSTER_MODELS_GPT_CUDA_CUDA_GPT_WEIGHTS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "models/cuda/device.h"
#include "models/gpt/gpt_config.h"
#include "models/gpt/gpt_weights.h"
#include "trainer_sdk/tensor/tensor.h"

namespace muster::models::cuda {

// The token table's name in GptWeights.
inline constexpr char kTokenTable[] = "transformer.wte.weight";

// The addresses of a weight on the device and of its float32 gradient; both
// null if the model does not have the weight. See GptWeight.
template <typename T>
struct CudaGptWeight {
  const T* value = nullptr;
  float* gradient = nullptr;
  int index = -1;
};

template <typename T>
struct CudaGptPair {
  CudaGptWeight<T> weight;
  CudaGptWeight<T> bias;
};

template <typename T>
struct CudaGptBlockWeights {
  CudaGptPair<T> norm_1;
  CudaGptPair<T> attention_in;
  CudaGptPair<T> attention_out;
  CudaGptPair<T> norm_2;
  CudaGptPair<T> mlp_in;
  CudaGptPair<T> mlp_out;
};

// The weights of several layers on a GPU, in the type T that the passes read,
// and their float32 gradients. Weights and gradients are one array each, with
// the tensors in GptWeights' order, aligned to 256 bytes. T: float, Bfloat16.
// Calls that do not copy to the host return when the work is enqueued on the
// device's stream.
template <typename T>
class CudaGptWeights {
 public:
  static constexpr DType kType =
      std::is_same_v<T, float> ? DType::kFloat32 : DType::kBFloat16;

  // Copies the host's weights `from` to the device, rounded to T. `device` must
  // outlive the copy. ResourceExhausted: not enough device memory.
  static absl::StatusOr<std::unique_ptr<CudaGptWeights>> Create(
      Device& device, const GptWeights& from);

  const GptConfig& config() const { return config_; }
  GptLayers layers() const { return layers_; }
  const std::vector<GptTensor>& tensors() const { return tensors_; }

  // The number of rows of the token table with padding: a multiple of 64,
  // because cuBLAS is up to three times slower with 50257 rows. The padding
  // rows stay zero.
  int64_t padded_vocabulary() const;

  void ZeroGradients();

  CudaGptWeight<T> Find(const std::string& name) const;
  CudaGptBlockWeights<T> Block(int64_t layer) const;
  CudaGptPair<T> FinalNorm() const;

  // Returns the tensors with their addresses on the device, for Reducer and
  // optimizers. The gradients may be reduced in place
  // (GradientPlace::kInPlace).
  std::vector<Tensor> DeviceTensors();

  // Copy the weights to and from a GptWeights of the same layers. CopyFrom
  // rounds them to T. CopyTo blocks.
  void CopyTo(GptWeights* weights) const;
  void CopyFrom(const GptWeights& from);

 private:
  CudaGptWeights(Device& device, const GptWeights& from);
  absl::Status Fill(const GptWeights& from);
  CudaGptPair<T> Pair(const std::string& name) const;

  Device& device_;
  const GptConfig config_;
  const GptLayers layers_;
  const std::vector<GptTensor> tensors_;
  std::map<std::string, int> index_;
  std::vector<int64_t> offsets_;
  // Number of elements of one array, including the gaps between tensors, which
  // stay zero.
  int64_t count_ = 0;
  DeviceArrays arrays_;
  T* values_ = nullptr;
  float* gradients_ = nullptr;
};

}  // namespace muster::models::cuda

#endif  // MUSTER_MODELS_GPT_CUDA_CUDA_GPT_WEIGHTS_H_
