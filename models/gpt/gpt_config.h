#ifndef MUSTER_MODELS_GPT_GPT_CONFIG_H_
#define MUSTER_MODELS_GPT_GPT_CONFIG_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace muster {

// The size of a GPT-2-style transformer (Radford et al., 2019).
struct GptConfig {
  enum class Biases { kAll, kNone };

  // Different tokens.
  int64_t vocabulary = 50257;
  // The longest sequence.
  int64_t context = 1024;
  int64_t layers = 12;
  int64_t heads = 12;
  // Of the residual stream; heads divide it.
  int64_t width = 768;
  // Whether linear layers and norms have biases: GPT-2's do.
  Biases biases = Biases::kAll;

  // InvalidArgument: which number is out of its bounds, or does not divide.
  absl::Status Check() const;

  // Floating-point operations of one token's forward and backward pass:
  // 6 N + 6 L C T, with N the parameters less the position table, L layers,
  // width C and context T (the formula of llm.c).
  double FlopsPerToken() const;
  int64_t Parameters() const;

  bool operator==(const GptConfig&) const = default;
};

// The layers that one pipeline stage has: [first, last). The one with layer 0
// has the embeddings too, the one with the last layer the final norm and the
// head.
struct GptLayers {
  int64_t first = 0;
  int64_t last = 0;
};

// One tensor, under Hugging Face's name for it in GPT2LMHeadModel.
struct GptTensor {
  std::string name;
  std::vector<int64_t> shape;

  int64_t count() const;
};

// The tensors of some layers, in the order of the forward pass. The head's
// matrix is the token table: a stage that has the head but not the embeddings
// has a copy of it, under the same name, at its end.
std::vector<GptTensor> TensorsOf(const GptConfig& config, GptLayers layers);

}  // namespace muster

#endif  // MUSTER_MODELS_GPT_GPT_CONFIG_H_
