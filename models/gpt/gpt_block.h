#ifndef MUSTER_MODELS_GPT_GPT_BLOCK_H_
#define MUSTER_MODELS_GPT_GPT_BLOCK_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "models/gpt/gpt_weights.h"
#include "models/kernels/aligned_floats.h"
#include "models/kernels/layers.h"

namespace muster::models {

// Called with the index of each tensor as soon as its gradient of this pass is
// complete.
using GradientReady = std::function<void(int tensor)>;

// Data of a layer norm that its backward pass needs.
struct NormActivations {
  AlignedFloats output;
  AlignedFloats mean;
  AlignedFloats scale;
};

// Gradients of the outputs of a block's linear layers, kept from BackwardInput
// to BackwardWeight.
struct GptBlockGradients {
  AlignedFloats qkv;
  AlignedFloats middle;
  AlignedFloats mlp;
  AlignedFloats output;
};

// Data of one block that is kept from the forward pass to the backward pass of
// a micro-batch.
struct GptBlockActivations {
  AlignedFloats input;
  NormActivations norm_1;
  AlignedFloats qkv;
  AlignedFloats probabilities;
  AlignedFloats attention;
  // The block's input plus the output of attention.
  AlignedFloats middle;
  NormActivations norm_2;
  AlignedFloats gelu;
  AlignedFloats gelu_slope;

  GptBlockGradients gradients;
};

// A transformer block: attention and a two-layer perceptron, each with a layer
// norm before it and added to the residual stream. Rows are batch * time
// positions of `width` values. The only state between calls is the activations.
// Not thread-safe.
class GptBlock {
 public:
  GptBlock(const GptConfig& config, int64_t batch, int64_t time);

  // Runs the block: replaces `stream`, on input the block's input, by the
  // block's output.
  void Forward(const GptBlockWeights& weights, std::vector<float>* stream,
               GptBlockActivations* kept) const;

  // `gradient` is the gradient of the block's output on input, and of the
  // block's input on return. Adds to the gradients of the layer norms' weights,
  // and stores in `kept` what BackwardWeight needs.
  void BackwardInput(const GptBlockWeights& weights, GptBlockActivations* kept,
                     std::vector<float>* gradient) const;

  // Adds to the linear layers' gradients, after which all gradients of the
  // block are complete.
  void BackwardWeight(const GptBlockWeights& weights,
                      const GptBlockActivations& kept,
                      const GradientReady& ready) const;

 private:
  int64_t rows() const { return shape_.batch * shape_.time; }
  void Norm(const GptPair& weights, const AlignedFloats& input,
            NormActivations* kept) const;
  void NormBackward(const GptPair& weights, const AlignedFloats& input,
                    const NormActivations& kept,
                    const AlignedFloats& output_gradient,
                    std::vector<float>* input_gradient) const;

  const AttentionShape shape_;
  // Working memory; its contents do not matter between calls.
  mutable AlignedFloats mlp_;
  mutable AlignedFloats inner_;
  mutable AlignedFloats scratch_;
};

}  // namespace muster::models

#endif  // MUSTER_MODELS_GPT_GPT_BLOCK_H_
