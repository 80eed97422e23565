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

namespace muster::models {

// The addresses of a weight and of its gradient; both null if the model does
// not have the weight, for example a bias in a model without biases.
struct GptWeight {
  const float* value = nullptr;
  float* gradient = nullptr;
  // Index of the weight in the list of tensors (TensorsOf); -1: the model does
  // not have the weight.
  int index = -1;
};

// Two weights of one layer: a layer norm's scale or a linear layer's matrix,
// and the layer's bias.
struct GptPair {
  GptWeight weight;
  GptWeight bias;
};

// The weights of one transformer block.
struct GptBlockWeights {
  GptPair norm_1;
  GptPair attention_in;
  GptPair attention_out;
  GptPair norm_2;
  GptPair mlp_in;
  GptPair mlp_out;
};

// The weights of several layers in one array, and the address of each weight's
// gradient. Initially the gradients are in one array too; later they may be
// anywhere, such as in DDP's buckets.
class GptWeights {
 public:
  // Makes the weights, with all values zero.
  GptWeights(const GptConfig& config, GptLayers layers);
  GptWeights(const GptWeights&) = delete;
  GptWeights& operator=(const GptWeights&) = delete;

  const GptConfig& config() const { return config_; }
  GptLayers layers() const { return layers_; }
  const std::vector<GptTensor>& tensors() const { return tensors_; }

  // The values of all tensors, in one array.
  float* data() { return values_.data(); }
  const float* data() const { return values_.data(); }
  int64_t count() const { return static_cast<int64_t>(values_.size()); }

  // Returns the tensor with this index: its name, shape and values, and the
  // current address of its gradient. Scales and biases are marked as exempt
  // from weight decay.
  Tensor tensor(int index);

  float* value(int tensor) { return values_.data() + offsets_[tensor]; }
  float* gradient(int tensor) { return gradients_[tensor]; }
  void PlaceGradient(int tensor, float* gradient) {
    gradients_[tensor] = gradient;
  }
  void ZeroGradients();

  // Returns the weight called `name`. Its addresses are null if these layers do
  // not have a weight of this name.
  GptWeight Find(const std::string& name) const;
  GptBlockWeights Block(int64_t layer) const;
  GptPair FinalNorm() const;

  // Initialises the weights like GPT-2: normal distribution with deviation
  // 0.02, projections into the residual stream divided by sqrt(2 layers),
  // biases 0, norms 1. The random numbers of a tensor depend only on its name
  // and `seed`, so the stages of a pipeline together get the weights of the
  // whole model.
  void Initialize(uint64_t seed);

 private:
  GptPair Pair(const std::string& name) const;

  const GptConfig config_;
  const GptLayers layers_;
  const std::vector<GptTensor> tensors_;
  std::map<std::string, int> index_;
  std::vector<int64_t> offsets_;
  std::vector<float> values_;
  // The deleter of own_gradients_. Its memory comes from calloc, so that a page
  // is allocated only when it is first written. Gradients that are kept
  // elsewhere, or not computed at all, then cost no memory.
  struct Free {
    void operator()(float* array) const { std::free(array); }
  };
  std::unique_ptr<float[], Free> own_gradients_;
  std::vector<float*> gradients_;
};

}  // namespace muster::models

#endif  // MUSTER_MODELS_GPT_GPT_WEIGHTS_H_
