#ifndef MUSTER_TRAINER_SDK_GPT_CUDA_CUDA_GPT_WEIGHTS_H_
#define MUSTER_TRAINER_SDK_GPT_CUDA_CUDA_GPT_WEIGHTS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer_sdk/cuda/device.h"
#include "trainer_sdk/cuda/device_arrays.h"
#include "trainer_sdk/gpt/gpt_config.h"
#include "trainer_sdk/gpt/gpt_weights.h"
#include "trainer_sdk/optim/adamw.h"
#include "trainer_sdk/optim/update_rule.h"

namespace muster::cuda {

// A weight on the device, or nothing where the model has none, and where its
// float32 gradient goes; see GptWeight.
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

// The weights of some layers on a GPU: those that the passes read, of type T;
// the float32 that are trained; float32 gradients; AdamW's state. Each of the
// five is one array, the tensors in GptWeights' order, each from a multiple of
// 256 bytes on. T: float, Bfloat16. Calls that take no device memory to the
// host return when the work is on the device's stream.
template <typename T>
class CudaGptWeights {
 public:
  // `device` must outlive it. ResourceExhausted: its memory is full.
  static absl::StatusOr<std::unique_ptr<CudaGptWeights>> Create(
      Device& device, const GptWeights& from);

  const GptConfig& config() const { return config_; }
  GptLayers layers() const { return layers_; }
  const std::vector<GptTensor>& tensors() const { return tensors_; }

  // Of one array, with the gaps between tensors, which stay zero.
  int64_t count() const { return count_; }
  float* gradients() { return gradients_; }
  // Where a tensor begins in it.
  int64_t offset(int tensor) const { return offsets_[tensor]; }
  void ZeroGradients();

  CudaGptWeight<T> Find(const std::string& name) const;
  CudaGptBlockWeights<T> Block(int64_t layer) const;
  CudaGptPair<T> FinalNorm() const;

  // One step over all weights with what is in their gradients. Decay is for
  // matrices alone.
  void AdamWStep(const AdamWOptions& options, const OptimizerStep& step);
  // The square of the gradients' norm; waits for it.
  double GradientSquareSum();

  // The trained weights, to a GptWeights of the same layers. Waits.
  void CopyTo(GptWeights* weights) const;
  // A tensor's gradient. Waits.
  std::vector<float> Gradient(int tensor) const;

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
  int64_t count_ = 0;
  DeviceArrays arrays_;
  T* working_ = nullptr;
  float* trained_ = nullptr;
  float* gradients_ = nullptr;
  float* mean_ = nullptr;
  float* square_ = nullptr;
  double* sums_ = nullptr;
};

}  // namespace muster::cuda

#endif  // MUSTER_TRAINER_SDK_GPT_CUDA_CUDA_GPT_WEIGHTS_H_
