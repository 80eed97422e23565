#include "trainer_sdk/gpt_cuda/cuda_gpt_weights.h"

#include <cstddef>

#include "absl/strings/str_cat.h"
#include "trainer_sdk/cuda/kernels/adamw.h"
#include "trainer_sdk/cuda/kernels/convert.h"
#include "trainer_sdk/cuda/kernels/square_sum.h"

namespace muster::cuda {
namespace {

// Products are fastest from 16 bytes on; 64 elements are as much in either
// type, and DDP's buckets begin anywhere between tensors.
constexpr int64_t kTensorStep = 64;

constexpr int64_t kFloat = sizeof(float);

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
    count_ += (tensor.count() + kTensorStep - 1) / kTensorStep * kTensorStep;
  }
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
  working_ = arrays_.Add<T>(count_);
  trained_ = arrays_.Add<float>(count_);
  gradients_ = arrays_.Add<float>(count_);
  mean_ = arrays_.Add<float>(count_);
  square_ = arrays_.Add<float>(count_);
  // The sum behind what it is made of.
  sums_ = arrays_.Add<double>(kSquareSumScratch + 1);
  if (!arrays_.status().ok()) return arrays_.status();
  for (float* const array : {trained_, gradients_, mean_, square_}) {
    device_.Zero(array, count_ * kFloat);
  }
  const float* values = from.data();
  for (size_t i = 0; i < tensors_.size(); ++i) {
    device_.CopyIn(trained_ + offsets_[i], values,
                   tensors_[i].count() * kFloat);
    values += tensors_[i].count();
  }
  if constexpr (std::is_same_v<T, float>) {
    device_.Copy(working_, trained_, count_ * kFloat);
  } else {
    Narrow(trained_, count_, working_, device_.stream());
  }
  return device_.status();
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
  return {working_ + offset, gradients_ + offset, at->second};
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
void CudaGptWeights<T>::AdamWStep(const AdamWOptions& options,
                                  const OptimizerStep& step) {
  AdamWOptions without_decay = options;
  without_decay.weight_decay = 0;
  for (size_t i = 0; i < tensors_.size(); ++i) {
    const int64_t at = offsets_[i];
    cuda::AdamWStep(tensors_[i].shape.size() > 1 ? options : without_decay,
                    step,
                    AdamWTensors<T>{.count = tensors_[i].count(),
                                    .gradient = gradients_ + at,
                                    .weights = trained_ + at,
                                    .mean = mean_ + at,
                                    .square = square_ + at,
                                    .working = working_ + at},
                    device_.stream());
  }
}

template <typename T>
double CudaGptWeights<T>::GradientSquareSum() {
  SquareSum(gradients_, count_, sums_, sums_ + kSquareSumScratch,
            device_.stream());
  double sum = 0;
  device_.CopyOut(&sum, sums_ + kSquareSumScratch, sizeof(sum));
  return sum;
}

template <typename T>
void CudaGptWeights<T>::CopyTo(GptWeights* weights) const {
  for (size_t i = 0; i < tensors_.size(); ++i) {
    device_.CopyOut(weights->value(static_cast<int>(i)), trained_ + offsets_[i],
                    tensors_[i].count() * kFloat);
  }
}

template <typename T>
std::vector<float> CudaGptWeights<T>::Gradient(int tensor) const {
  const auto at = static_cast<size_t>(tensor);
  std::vector<float> gradient(static_cast<size_t>(tensors_[at].count()));
  device_.CopyOut(gradient.data(), gradients_ + offsets_[at],
                  tensors_[at].count() * kFloat);
  return gradient;
}

template class CudaGptWeights<float>;
template class CudaGptWeights<Bfloat16>;

}  // namespace muster::cuda
