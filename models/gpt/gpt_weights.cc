#include "models/gpt/gpt_weights.h"

#include <algorithm>
#include <cmath>
#include <new>
#include <random>

#include "absl/strings/str_cat.h"
#include "base/fnv_hash.h"

namespace muster::models {

GptWeights::GptWeights(const GptConfig& config, GptLayers layers)
    : config_(config), layers_(layers), tensors_(TensorsOf(config, layers)) {
  int64_t count = 0;
  for (const GptTensor& tensor : tensors_) {
    index_.emplace(tensor.name, static_cast<int>(offsets_.size()));
    offsets_.push_back(count);
    count += tensor.count();
  }
  values_.resize(static_cast<size_t>(count));
  own_gradients_.reset(
      static_cast<float*>(std::calloc(values_.size(), sizeof(float))));
  if (own_gradients_ == nullptr) throw std::bad_alloc();
  for (const int64_t offset : offsets_) {
    gradients_.push_back(own_gradients_.get() + offset);
  }
}

Tensor GptWeights::tensor(int index) {
  const GptTensor& tensor = tensors_[static_cast<size_t>(index)];
  return {.name = tensor.name,
          .shape = tensor.shape,
          .value = {value(index), tensor.count()},
          .gradient = {gradient(index), tensor.count()},
          .decay = tensor.shape.size() == 1 ? WeightDecay::kNone
                                            : WeightDecay::kApplied};
}

void GptWeights::ZeroGradients() {
  for (size_t i = 0; i < tensors_.size(); ++i) {
    std::fill_n(gradients_[i], tensors_[i].count(), 0.0f);
  }
}

GptWeight GptWeights::Find(const std::string& name) const {
  const auto at = index_.find(name);
  if (at == index_.end()) return {};
  return {values_.data() + offsets_[at->second], gradients_[at->second],
          at->second};
}

GptPair GptWeights::Pair(const std::string& name) const {
  return {Find(name + ".weight"), Find(name + ".bias")};
}

GptBlockWeights GptWeights::Block(int64_t layer) const {
  const std::string h = absl::StrCat("transformer.h.", layer, ".");
  return {.norm_1 = Pair(h + "ln_1"),
          .attention_in = Pair(h + "attn.c_attn"),
          .attention_out = Pair(h + "attn.c_proj"),
          .norm_2 = Pair(h + "ln_2"),
          .mlp_in = Pair(h + "mlp.c_fc"),
          .mlp_out = Pair(h + "mlp.c_proj")};
}

GptPair GptWeights::FinalNorm() const { return Pair("transformer.ln_f"); }

void GptWeights::Initialize(uint64_t seed) {
  for (size_t i = 0; i < tensors_.size(); ++i) {
    const GptTensor& tensor = tensors_[i];
    float* const values = value(static_cast<int>(i));
    if (tensor.shape.size() == 1) {
      std::fill_n(values, tensor.count(),
                  tensor.name.ends_with(".bias") ? 0.0f : 1.0f);
      continue;
    }
    const double deviation =
        tensor.name.ends_with(".c_proj.weight")
            ? 0.02 / std::sqrt(2.0 * static_cast<double>(config_.layers))
            : 0.02;
    std::mt19937_64 engine(seed ^ FnvHashOf(tensor.name));
    std::normal_distribution<float> normal(0.0f, static_cast<float>(deviation));
    std::generate_n(values, tensor.count(), [&] { return normal(engine); });
  }
}

}  // namespace muster::models
