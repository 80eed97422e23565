#include "models/gpt_cuda/cuda_gpt_weights.h"

#include <cstddef>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "trainer_sdk/reduce/reduce.h"

namespace muster::models::cuda {
namespace {

// Each tensor begins at a multiple of this number of elements. Products are
// fastest with an alignment of 16 bytes or more, and DDP's buckets may begin at
// any tensor.
constexpr int64_t kTensorStep = 64;
// The number of rows of the token table is rounded up to a multiple of this
// number of rows.
constexpr int64_t kVocabularyStep = 64;

constexpr int64_t kFloat = sizeof(float);

int64_t RoundedUp(int64_t count, int64_t step) {
  return (count + step - 1) / step * step;
}

}  // namespace

template <typename T>
CudaGptWeights<T>::CudaGptWeights(Device& device, const GptWeights& from)
    : device_(device),
      config_(from.config()),
      layers_(from.layers()),
      tensors_(from.tensors()),
      arrays_(device) {
  for (const GptTensor& tensor : tensors_) {
    index_.emplace(tensor.name, static_cast<int>(offsets_.size()));
    offsets_.push_back(count_);
    const int64_t room = tensor.name == kTokenTable
                             ? padded_vocabulary() * config_.width
                             : tensor.count();
    count_ += RoundedUp(room, kTensorStep);
  }
}

template <typename T>
int64_t CudaGptWeights<T>::padded_vocabulary() const {
  return RoundedUp(config_.vocabulary, kVocabularyStep);
}

template <typename T>
absl::StatusOr<std::unique_ptr<CudaGptWeights<T>>> CudaGptWeights<T>::Create(
    Device& device, const GptWeights& from) {
  std::unique_ptr<CudaGptWeights> weights(new CudaGptWeights(device, from));
  if (absl::Status status = weights->Fill(from); !status.ok()) return status;
  return weights;
}

template <typename T>
absl::Status CudaGptWeights<T>::Fill(const GptWeights& from) {
  values_ = arrays_.Add<T>(count_);
  gradients_ = arrays_.Add<float>(count_);
  if (!arrays_.status().ok()) return arrays_.status();
  device_.Zero(values_, count_ * static_cast<int64_t>(sizeof(T)));
  device_.Zero(gradients_, count_ * kFloat);
  CopyFrom(from);
  return device_.status();
}

template <typename T>
void CudaGptWeights<T>::CopyFrom(const GptWeights& from) {
  const float* value = from.data();
  for (size_t i = 0; i < tensors_.size(); ++i) {
    const int64_t count = tensors_[i].count();
    if constexpr (std::is_same_v<T, float>) {
      device_.CopyIn(values_ + offsets_[i], value, count * kFloat);
    } else {
      std::vector<T> rounded(static_cast<size_t>(count));
      Narrow(value, DType::kBFloat16, rounded.data(), count);
      device_.CopyIn(values_ + offsets_[i], rounded.data(),
                     count * static_cast<int64_t>(sizeof(T)));
    }
    value += count;
  }
}

template <typename T>
std::vector<Tensor> CudaGptWeights<T>::DeviceTensors() {
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < tensors_.size(); ++i) {
    const GptTensor& tensor = tensors_[i];
    tensors.push_back({.name = tensor.name,
                       .shape = tensor.shape,
                       .value = {values_ + offsets_[i], tensor.count(), kType},
                       .gradient = {gradients_ + offsets_[i], tensor.count()},
                       .decay = tensor.shape.size() > 1 ? WeightDecay::kApplied
                                                        : WeightDecay::kNone,
                       .precision = kType});
  }
  return tensors;
}

template <typename T>
void CudaGptWeights<T>::ZeroGradients() {
  device_.Zero(gradients_, count_ * kFloat);
}

template <typename T>
CudaGptWeight<T> CudaGptWeights<T>::Find(const std::string& name) const {
  const auto at = index_.find(name);
  if (at == index_.end()) return {};
  const int64_t offset = offsets_[static_cast<size_t>(at->second)];
  return {values_ + offset, gradients_ + offset, at->second};
}

template <typename T>
CudaGptPair<T> CudaGptWeights<T>::Pair(const std::string& name) const {
  return {Find(name + ".weight"), Find(name + ".bias")};
}

template <typename T>
CudaGptBlockWeights<T> CudaGptWeights<T>::Block(int64_t layer) const {
  const std::string h = absl::StrCat("transformer.h.", layer, ".");
  return {.norm_1 = Pair(h + "ln_1"),
          .attention_in = Pair(h + "attn.c_attn"),
          .attention_out = Pair(h + "attn.c_proj"),
          .norm_2 = Pair(h + "ln_2"),
          .mlp_in = Pair(h + "mlp.c_fc"),
          .mlp_out = Pair(h + "mlp.c_proj")};
}

template <typename T>
CudaGptPair<T> CudaGptWeights<T>::FinalNorm() const {
  return Pair("transformer.ln_f");
}

template <typename T>
void CudaGptWeights<T>::CopyTo(GptWeights* weights) const {
  for (size_t i = 0; i < tensors_.size(); ++i) {
    const int64_t count = tensors_[i].count();
    float* const to = weights->value(static_cast<int>(i));
    if constexpr (std::is_same_v<T, float>) {
      device_.CopyOut(to, values_ + offsets_[i], count * kFloat);
    } else {
      std::vector<T> rounded(static_cast<size_t>(count));
      device_.CopyOut(rounded.data(), values_ + offsets_[i],
                      count * static_cast<int64_t>(sizeof(T)));
      Widen(DType::kBFloat16, rounded.data(), to, count);
    }
  }
}

template class CudaGptWeights<float>;
template class CudaGptWeights<Bfloat16>;

}  // namespace muster::models::cuda
