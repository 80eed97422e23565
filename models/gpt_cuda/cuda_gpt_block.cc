#include "models/gpt_cuda/cuda_gpt_block.h"

#include <algorithm>

#include "models/cuda/kernels/kernels.h"
#include "models/gpt_cuda/cuda_layers.h"

namespace muster::models::cuda {
namespace {

template <typename T>
void Tell(const CudaGptPair<T>& pair, const CudaGradientReady& ready) {
  for (const int index : {pair.bias.index, pair.weight.index}) {
    if (index >= 0) ready(index);
  }
}

}  // namespace

template <typename T>
CudaGptBlock<T>::CudaGptBlock(Device& device, const GptConfig& config,
                              int64_t batch, int64_t time)
    : device_(device),
      shape_{.batch = batch,
             .time = time,
             .heads = config.heads,
             .width = config.width},
      arrays_(device),
      inner_(arrays_.Add<T>(rows() * shape_.width)),
      mlp_gradient_(arrays_.Add<T>(rows() * 4 * shape_.width)),
      qkv_gradient_(arrays_.Add<T>(rows() * 3 * shape_.width)),
      score_gradient_(arrays_.Add<T>(ProbabilitiesCount(shape_))),
      sums_(arrays_.Add<float>(
          std::max(ColumnSumsScratchCount(rows(), 4 * shape_.width),
                   LayerNormScratchCount(rows(), shape_.width)))) {}

template <typename T>
CudaNormActivations<T> CudaGptBlock<T>::NewNorm(DeviceArrays& arrays) const {
  return {.output = arrays.Add<T>(rows() * shape_.width),
          .mean = arrays.Add<float>(rows()),
          .scale = arrays.Add<float>(rows())};
}

template <typename T>
CudaBlockActivations<T> CudaGptBlock<T>::NewActivations(
    DeviceArrays& arrays) const {
  const int64_t stream = rows() * shape_.width;
  return {.norm_1 = NewNorm(arrays),
          .qkv = arrays.Add<T>(3 * stream),
          .probabilities = arrays.Add<T>(ProbabilitiesCount(shape_)),
          .attention = arrays.Add<T>(stream),
          .middle = arrays.Add<T>(stream),
          .norm_2 = NewNorm(arrays),
          .mlp = arrays.Add<T>(4 * stream),
          .gelu = arrays.Add<T>(4 * stream)};
}

template <typename T>
void CudaGptBlock<T>::Norm(const CudaGptPair<T>& weights, const T* input,
                           const CudaNormActivations<T>& kept) const {
  LayerNormForward(input, weights.weight.value, weights.bias.value, rows(),
                   shape_.width, kept.output, kept.mean, kept.scale,
                   device_.stream());
}

template <typename T>
void CudaGptBlock<T>::NormBackward(const CudaGptPair<T>& weights,
                                   const T* input,
                                   const CudaNormActivations<T>& kept,
                                   const T* output_gradient,
                                   T* input_gradient) const {
  LayerNormBackward(output_gradient, input, weights.weight.value, kept.mean,
                    kept.scale, rows(), shape_.width, sums_, input_gradient,
                    weights.weight.gradient, weights.bias.gradient,
                    device_.stream());
}

template <typename T>
void CudaGptBlock<T>::Forward(const CudaGptBlockWeights<T>& weights,
                              const T* input,
                              const CudaBlockActivations<T>& kept,
                              T* output) const {
  const int64_t width = shape_.width;
  const T* const none = nullptr;
  Norm(weights.norm_1, input, kept.norm_1);
  LinearForward<T>(device_, {rows(), width, 3 * width}, kept.norm_1.output,
                   weights.attention_in.weight.value,
                   weights.attention_in.bias.value, none, kept.qkv);
  AttentionForward<T>(device_, shape_, kept.qkv, kept.probabilities,
                      kept.attention);
  LinearForward<T>(device_, {rows(), width, width}, kept.attention,
                   weights.attention_out.weight.value,
                   weights.attention_out.bias.value, input, kept.middle);
  Norm(weights.norm_2, kept.middle, kept.norm_2);
  LinearForward<T>(device_, {rows(), width, 4 * width}, kept.norm_2.output,
                   weights.mlp_in.weight.value, none, none, kept.mlp);
  BiasGeluForward<T>(kept.mlp, weights.mlp_in.bias.value, rows(), 4 * width,
                     kept.gelu, device_.stream());
  LinearForward<T>(device_, {rows(), 4 * width, width}, kept.gelu,
                   weights.mlp_out.weight.value, weights.mlp_out.bias.value,
                   kept.middle, output);
}

template <typename T>
void CudaGptBlock<T>::Backward(const CudaGptBlockWeights<T>& weights,
                               const T* input,
                               const CudaBlockActivations<T>& kept, T* gradient,
                               const CudaGradientReady& ready) const {
  const int64_t width = shape_.width;
  const LinearShape mlp_out = {rows(), 4 * width, width};
  LinearBackwardWeight<T>(device_, mlp_out, kept.gelu, gradient,
                          weights.mlp_out, sums_);
  Tell(weights.mlp_out, ready);
  LinearBackwardInput<T>(device_, mlp_out, gradient,
                         weights.mlp_out.weight.value, mlp_gradient_);
  BiasGeluBackward<T>(kept.mlp, weights.mlp_in.bias.value, rows(), 4 * width,
                      mlp_gradient_, device_.stream());
  const LinearShape mlp_in = {rows(), width, 4 * width};
  LinearBackwardWeight<T>(device_, mlp_in, kept.norm_2.output, mlp_gradient_,
                          weights.mlp_in, sums_);
  Tell(weights.mlp_in, ready);
  LinearBackwardInput<T>(device_, mlp_in, mlp_gradient_,
                         weights.mlp_in.weight.value, inner_);
  // The block's output is the residual stream plus the perceptron's output. So
  // `gradient`, the gradient of the output, already is the part that comes
  // through the residual stream. NormBackward adds the part that comes through
  // the perceptron.
  NormBackward(weights.norm_2, kept.middle, kept.norm_2, inner_, gradient);
  Tell(weights.norm_2, ready);

  const LinearShape attention_out = {rows(), width, width};
  LinearBackwardWeight<T>(device_, attention_out, kept.attention, gradient,
                          weights.attention_out, sums_);
  Tell(weights.attention_out, ready);
  LinearBackwardInput<T>(device_, attention_out, gradient,
                         weights.attention_out.weight.value, inner_);
  AttentionBackward<T>(device_, shape_, kept.qkv, kept.probabilities, inner_,
                       score_gradient_, qkv_gradient_);
  const LinearShape attention_in = {rows(), width, 3 * width};
  LinearBackwardWeight<T>(device_, attention_in, kept.norm_1.output,
                          qkv_gradient_, weights.attention_in, sums_);
  Tell(weights.attention_in, ready);
  LinearBackwardInput<T>(device_, attention_in, qkv_gradient_,
                         weights.attention_in.weight.value, inner_);
  NormBackward(weights.norm_1, input, kept.norm_1, inner_, gradient);
  Tell(weights.norm_1, ready);
}

template class CudaGptBlock<float>;
template class CudaGptBlock<Bfloat16>;

}  // namespace muster::models::cuda
