#ifndef MUSTER_MODELS_GPT_GPT_BLOCK_H_
#define MUSTER_MODELS_GPT_GPT_BLOCK_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "models/gpt/gpt_weights.h"
#include "models/kernels/aligned_floats.h"
#include "models/kernels/layers.h"

namespace muster::models {

// A callback for backward passes. It is called with a tensor's index as soon as
// the current pass adds nothing more to the tensor's gradient.
using GradientReady = std::function<void(int tensor)>;

// The data of a layer norm's forward pass that its backward pass needs.
struct NormActivations {
  AlignedFloats output;
  AlignedFloats mean;
  AlignedFloats scale;
};

// The gradients of the outputs of a block's linear layers. BackwardInput
// computes them, and BackwardWeight needs them.
struct GptBlockGradients {
  AlignedFloats qkv;
  AlignedFloats middle;
  AlignedFloats mlp;
  AlignedFloats output;
};

// The data of one block and micro-batch that is kept from the forward pass to
// the backward pass.
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

// A transformer block: attention and a two-layer perceptron. A layer norm
// precedes each of the two, and the output of each is added to the residual
// stream. Arrays have one row of `width` values per position, batch * time
// rows. The block keeps no data between calls: the activations belong to the
// caller. Not thread-safe.
class GptBlock {
 public:
  GptBlock(const GptConfig& config, int64_t batch, int64_t time);

  // Runs the block: replaces the block's input in `stream` by the block's
  // output.
  void Forward(const GptBlockWeights& weights, std::vector<float>* stream,
               GptBlockActivations* kept) const;

  // Replaces the gradient of the block's output in `gradient` by the gradient
  // of the block's input. Adds to the gradients of the layer norms' weights,
  // and stores in `kept` the data that BackwardWeight needs.
  void BackwardInput(const GptBlockWeights& weights, GptBlockActivations* kept,
                     std::vector<float>* gradient) const;

  // Adds to the gradients of the linear layers' weights. After this call all
  // gradients of the block are complete.
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
