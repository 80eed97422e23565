#ifndef MUSTER_MODELS_GPT_GPT_WEIGHTS_H_
#define MUSTER_MODELS_GPT_GPT_WEIGHTS_H_

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "models/gpt/gpt_config.h"
#include "trainer_sdk/tensor/tensor.h"

namespace muster {

// A weight, or nothing where the model has none (biases), and where its
// gradient goes.
struct GptWeight {
  const float* value = nullptr;
  float* gradient = nullptr;
  // Its place in the list of tensors; -1 for nothing.
  int index = -1;
};

// A scale and its bias, or a matrix and its bias.
struct GptPair {
  GptWeight weight;
  GptWeight bias;
};

// One transformer block's.
struct GptBlockWeights {
  GptPair norm_1;
  GptPair attention_in;
  GptPair attention_out;
  GptPair norm_2;
  GptPair mlp_in;
  GptPair mlp_out;
};

// The weights of some layers, one behind the other in one array, and where the
// gradient of each is: anywhere (DDP's buckets), in one array at first.
class GptWeights {
 public:
  // Zeros.
  GptWeights(const GptConfig& config, GptLayers layers);
  GptWeights(const GptWeights&) = delete;
  GptWeights& operator=(const GptWeights&) = delete;

  const GptConfig& config() const { return config_; }
  GptLayers layers() const { return layers_; }
  const std::vector<GptTensor>& tensors() const { return tensors_; }

  // All of them.
  float* data() { return values_.data(); }
  const float* data() const { return values_.data(); }
  int64_t count() const { return static_cast<int64_t>(values_.size()); }

  // With its value and the present place of its gradient. Scales and biases are
  // not pulled towards zero.
  Tensor tensor(int index);

  float* value(int tensor) { return values_.data() + offsets_[tensor]; }
  float* gradient(int tensor) { return gradients_[tensor]; }
  void PlaceGradient(int tensor, float* gradient) {
    gradients_[tensor] = gradient;
  }
  void ZeroGradients();

  // By name; nothing for a name that the layers do not have.
  GptWeight Find(const std::string& name) const;
  GptBlockWeights Block(int64_t layer) const;
  GptPair FinalNorm() const;

  // As GPT-2's: normal with deviation 0.02, projections into the residual
  // stream divided by sqrt(2 layers), biases 0, norms 1. The draws of a tensor
  // depend on its name alone, so stages together are the whole model.
  void Initialize(uint64_t seed);

 private:
  GptPair Pair(const std::string& name) const;

  const GptConfig config_;
  const GptLayers layers_;
  const std::vector<GptTensor> tensors_;
  std::map<std::string, int> index_;
  std::vector<int64_t> offsets_;
  std::vector<float> values_;
  // Zeros that take no memory until they are written: gradients that are
  // elsewhere, or not computed at all, cost nothing.
  struct Free {
    void operator()(float* array) const { std::free(array); }
  };
  std::unique_ptr<float[], Free> own_gradients_;
  std::vector<float*> gradients_;
};

}  // namespace muster

#endif  // MUSTER_MODELS_GPT_GPT_WEIGHTS_H_
