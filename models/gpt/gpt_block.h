#ifndef MUSTER_MODELS_GPT_GPT_BLOCK_H_
#define MUSTER_MODELS_GPT_GPT_BLOCK_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "models/gpt/gpt_weights.h"
#include "models/kernels/aligned_floats.h"
#include "models/kernels/attention.h"

namespace muster {

// Told the index of each tensor as soon as its gradient of this pass is whole.
using GradientReady = std::function<void(int tensor)>;

// A layer norm, as its backward pass needs it.
struct NormActivations {
  AlignedFloats output;
  AlignedFloats mean;
  AlignedFloats scale;
};

// Gradients of linear layers' outputs: what one block's backward pass keeps
// from the input's part to the weights'.
struct GptBlockGradients {
  AlignedFloats qkv;
  AlignedFloats middle;
  AlignedFloats mlp;
  AlignedFloats output;
};

// What one block keeps of a micro-batch from its forward to its backward pass.
struct GptBlockActivations {
  AlignedFloats input;
  NormActivations norm_1;
  AlignedFloats qkv;
  AlignedFloats probabilities;
  AlignedFloats attention;
  // The input and what attention adds.
  AlignedFloats middle;
  NormActivations norm_2;
  AlignedFloats gelu;
  AlignedFloats gelu_slope;

  GptBlockGradients gradients;
};

// One transformer block: attention and a two-layer perceptron, each behind a
// norm and added to the residual stream. Rows are batch * time positions of
// `width` values. Nothing is kept between calls but in the activations. One
// call at a time.
class GptBlock {
 public:
  GptBlock(const GptConfig& config, int64_t batch, int64_t time);

  // `stream` becomes the block's output.
  void Forward(const GptBlockWeights& weights, std::vector<float>* stream,
               GptBlockActivations* kept) const;

  // `gradient`, that of the output, becomes that of the input. Adds to the
  // norms' gradients, and keeps what BackwardWeight needs.
  void BackwardInput(const GptBlockWeights& weights, GptBlockActivations* kept,
                     std::vector<float>* gradient) const;

  // Adds to the linear layers' gradients; then all of the block's are whole.
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
  // Working memory, of no meaning between calls.
  mutable AlignedFloats mlp_;
  mutable AlignedFloats inner_;
  mutable AlignedFloats scratch_;
};

}  // namespace muster

#endif  // MUSTER_MODELS_GPT_GPT_BLOCK_H_
