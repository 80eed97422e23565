#include "models/gpt/gpt_block.h"

#include <cstddef>

#include "models/kernels/layers.h"

namespace muster::models {
namespace {

void Resize(AlignedFloats* values, int64_t count) {
  values->resize(static_cast<size_t>(count));
}

void Tell(const GptPair& pair, const GradientReady& ready) {
  for (const int index : {pair.bias.index, pair.weight.index}) {
    if (index >= 0) ready(index);
  }
}

}  // namespace

GptBlock::GptBlock(const GptConfig& config, int64_t batch, int64_t time)
    : shape_{.batch = batch,
             .time = time,
             .heads = config.heads,
             .width = config.width},
      mlp_(static_cast<size_t>(rows() * 4 * shape_.width)),
      inner_(static_cast<size_t>(rows() * shape_.width)),
      scratch_(static_cast<size_t>(AttentionScratchCount(shape_))) {}

void GptBlock::Norm(const GptPair& weights, const AlignedFloats& input,
                    NormActivations* kept) const {
  Resize(&kept->output, rows() * shape_.width);
  Resize(&kept->mean, rows());
  Resize(&kept->scale, rows());
  LayerNormForward(input.data(), weights.weight.value, weights.bias.value,
                   rows(), shape_.width, kept->output.data(), kept->mean.data(),
                   kept->scale.data());
}

void GptBlock::NormBackward(const GptPair& weights, const AlignedFloats& input,
                            const NormActivations& kept,
                            const AlignedFloats& output_gradient,
                            std::vector<float>* input_gradient) const {
  LayerNormBackward(output_gradient.data(), input.data(), weights.weight.value,
                    kept.mean.data(), kept.scale.data(), rows(), shape_.width,
                    input_gradient->data(), weights.weight.gradient,
                    weights.bias.gradient);
}

void GptBlock::Forward(const GptBlockWeights& weights,
                       std::vector<float>* stream,
                       GptBlockActivations* kept) const {
  const int64_t width = shape_.width;
  kept->input.assign(stream->begin(), stream->end());
  Norm(weights.norm_1, kept->input, &kept->norm_1);
  Resize(&kept->qkv, rows() * 3 * width);
  LinearForward(kept->norm_1.output.data(), weights.attention_in.weight.value,
                weights.attention_in.bias.value, rows(), width, 3 * width,
                kept->qkv.data());
  Resize(&kept->probabilities, ProbabilitiesCount(shape_));
  Resize(&kept->attention, rows() * width);
  AttentionForward(shape_, kept->qkv.data(), scratch_.data(),
                   kept->probabilities.data(), kept->attention.data());
  AddLinear(kept->attention.data(), weights.attention_out.weight.value,
            weights.attention_out.bias.value, rows(), width, width,
            stream->data());
  kept->middle.assign(stream->begin(), stream->end());
  Norm(weights.norm_2, kept->middle, &kept->norm_2);
  LinearForward(kept->norm_2.output.data(), weights.mlp_in.weight.value,
                weights.mlp_in.bias.value, rows(), width, 4 * width,
                mlp_.data());
  Resize(&kept->gelu, rows() * 4 * width);
  Resize(&kept->gelu_slope, rows() * 4 * width);
  GeluForward(mlp_.data(), rows() * 4 * width, kept->gelu.data(),
              kept->gelu_slope.data());
  AddLinear(kept->gelu.data(), weights.mlp_out.weight.value,
            weights.mlp_out.bias.value, rows(), 4 * width, width,
            stream->data());
}

void GptBlock::BackwardInput(const GptBlockWeights& weights,
                             GptBlockActivations* kept,
                             std::vector<float>* gradient) const {
  const int64_t width = shape_.width;
  kept->gradients.output.assign(gradient->begin(), gradient->end());
  Resize(&kept->gradients.mlp, rows() * 4 * width);
  LinearBackwardInput(gradient->data(), weights.mlp_out.weight.value, rows(),
                      4 * width, width, kept->gradients.mlp.data());
  GeluBackward(kept->gelu_slope.data(), rows() * 4 * width,
               kept->gradients.mlp.data());
  LinearBackwardInput(kept->gradients.mlp.data(), weights.mlp_in.weight.value,
                      rows(), width, 4 * width, inner_.data());
  // The block's output is the residual stream plus the perceptron's output. So
  // `gradient`, the gradient of the output, already is the part that comes
  // through the residual stream. NormBackward adds the part that comes through
  // the perceptron.
  NormBackward(weights.norm_2, kept->middle, kept->norm_2, inner_, gradient);
  kept->gradients.middle.assign(gradient->begin(), gradient->end());
  LinearBackwardInput(gradient->data(), weights.attention_out.weight.value,
                      rows(), width, width, inner_.data());
  Resize(&kept->gradients.qkv, rows() * 3 * width);
  AttentionBackward(shape_, kept->qkv.data(), kept->probabilities.data(),
                    inner_.data(), scratch_.data(), kept->gradients.qkv.data());
  LinearBackwardInput(kept->gradients.qkv.data(),
                      weights.attention_in.weight.value, rows(), width,
                      3 * width, inner_.data());
  NormBackward(weights.norm_1, kept->input, kept->norm_1, inner_, gradient);
}

void GptBlock::BackwardWeight(const GptBlockWeights& weights,
                              const GptBlockActivations& kept,
                              const GradientReady& ready) const {
  const int64_t width = shape_.width;
  const auto linear = [&](const GptPair& pair, const AlignedFloats& input,
                          const AlignedFloats& output_gradient, int64_t in,
                          int64_t out) {
    LinearBackwardWeight(input.data(), output_gradient.data(), rows(), in, out,
                         pair.weight.gradient, pair.bias.gradient);
    Tell(pair, ready);
  };
  linear(weights.mlp_out, kept.gelu, kept.gradients.output, 4 * width, width);
  linear(weights.mlp_in, kept.norm_2.output, kept.gradients.mlp, width,
         4 * width);
  Tell(weights.norm_2, ready);
  linear(weights.attention_out, kept.attention, kept.gradients.middle, width,
         width);
  linear(weights.attention_in, kept.norm_1.output, kept.gradients.qkv, width,
         3 * width);
  Tell(weights.norm_1, ready);
}

}  // namespace muster::models
