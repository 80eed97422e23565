#ifndef MUSTER_TRAINER_SDK_GPT_GPT_BLOCK_H_
#define MUSTER_TRAINER_SDK_GPT_GPT_BLOCK_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "trainer_sdk/gpt/gpt_weights.h"
#include "trainer_sdk/kernels/attention.h"

namespace muster {

// Told the index of each tensor as soon as its gradient of this pass is whole.
using GradientReady = std::function<void(int tensor)>;

// A layer norm, as its backward pass needs it.
struct NormActivations {
  std::vector<float> output;
  std::vector<float> mean;
  std::vector<float> scale;
};

// Gradients of linear layers' outputs: what one block's backward pass keeps
// from the input's part to the weights'.
struct GptBlockGradients {
  std::vector<float> qkv;
  std::vector<float> middle;
  std::vector<float> mlp;
  std::vector<float> output;
};

// What one block keeps of a micro-batch from its forward to its backward pass.
struct GptBlockActivations {
  std::vector<float> input;
  NormActivations norm_1;
  std::vector<float> qkv;
  std::vector<float> probabilities;
  std::vector<float> attention;
  // The input and what attention adds.
  std::vector<float> middle;
  NormActivations norm_2;
  std::vector<float> gelu;
  std::vector<float> gelu_slope;

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
  void Norm(const GptPair& weights, const std::vector<float>& input,
            NormActivations* kept) const;
  void NormBackward(const GptPair& weights, const std::vector<float>& input,
                    const NormActivations& kept,
                    const std::vector<float>& output_gradient,
                    std::vector<float>* input_gradient) const;

  const AttentionShape shape_;
  // Working memory, of no meaning between calls.
  mutable std::vector<float> mlp_;
  mutable std::vector<float> inner_;
  mutable std::vector<float> scratch_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_GPT_GPT_BLOCK_H_
