#ifndef MUSTER_MODELS_GPT_GPT_CONFIG_H_
#define MUSTER_MODELS_GPT_GPT_CONFIG_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace muster::models {

// The size of a GPT-2-style transformer (Radford et al., 2019).
struct GptConfig {
  enum class Biases { kAll, kNone };

  // Number of distinct tokens in the vocabulary.
  int64_t vocabulary = 50257;
  // Maximum length of a sequence, in tokens.
  int64_t context = 1024;
  int64_t layers = 12;
  int64_t heads = 12;
  // Width of the residual stream; a multiple of `heads`.
  int64_t width = 768;
  // Whether linear layers and norms have biases, as in GPT-2.
  Biases biases = Biases::kAll;

  // InvalidArgument: a field is below 1 or too large, or `width` is not a
  // multiple of `heads`; the message names the value.
  absl::Status Check() const;

  // Floating-point operations of the forward and backward pass per token: 6 N +
  // 6 L C T, where N is the number of parameters except those of the position
  // table, L the number of layers, C the width and T the context (llm.c's
  // formula).
  double FlopsPerToken() const;
  int64_t Parameters() const;

  bool operator==(const GptConfig&) const = default;
};

// The layers of one pipeline stage: [first, last). The stage with layer 0 also
// has the embeddings, and the stage with the last layer has the final norm and
// the head.
struct GptLayers {
  int64_t first = 0;
  int64_t last = 0;
};

// The name and the shape of a tensor, as in Hugging Face's GPT2LMHeadModel.
struct GptTensor {
  std::string name;
  std::vector<int64_t> shape;

  int64_t count() const;
};

// Returns the tensors of `layers`, in the order of the forward pass. The head's
// matrix is the token table. If a stage has the head but not the embeddings,
// the list ends with a copy of the table, under the same name.
std::vector<GptTensor> TensorsOf(const GptConfig& config, GptLayers layers);

// Names of the parts of a transformer: part 0 is the embeddings, then one part
// per block, then the head.
std::vector<std::string> GptPartNames(const GptConfig& config);

// Returns, indexed by tensor, the model's part (GptPartNames) whose backward
// pass completes the tensor's gradient. The head and the embeddings both add to
// the token table's gradient; the backward pass of the embeddings comes last,
// so the table belongs to the part of the embeddings.
std::vector<int64_t> GptPartsOf(const std::vector<GptTensor>& tensors,
                                const GptConfig& config);

// Distributes the layers over the stages of a pipeline as evenly as possible,
// and returns each stage's layers. If the number of layers is not a multiple of
// the number of stages, the first stages get one layer more, because the last
// stage also has the head. Pure. InvalidArgument: there are fewer layers than
// stages.
absl::StatusOr<std::vector<GptLayers>> SplitLayers(const GptConfig& config,
                                                   int stages);

}  // namespace muster::models

#endif  // MUSTER_MODELS_GPT_GPT_CONFIG_H_
