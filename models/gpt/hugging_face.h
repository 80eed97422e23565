#ifndef MUSTER_MODELS_GPT_HUGGING_FACE_H_
#define MUSTER_MODELS_GPT_HUGGING_FACE_H_

#include <string>

#include "absl/status/status.h"
#include "models/gpt/gpt_weights.h"

namespace muster::models {

// Writes a whole model so that Hugging Face's GPT2LMHeadModel.from_pretrained
// can read it: `folder`/model.safetensors and `folder`/config.json. Creates the
// folder. Biases that the model does not have are written as zeros, because
// GPT2LMHeadModel always has them. Errors name the file.
absl::Status WriteHuggingFaceModel(const GptWeights& weights,
                                   const std::string& folder);

// Fills the weights of a whole model or a stage from a safetensors file. The
// tensors have Hugging Face's names, with or without "transformer.", and the
// type float32, float16 or bfloat16. Ignores tensors of other layers, the head
// (which is the token table) and attention masks. NotFound, DataLoss: the file
// cannot be read. InvalidArgument: a tensor is missing, has another shape, or
// is unknown to the model.
absl::Status ReadHuggingFaceWeights(const std::string& path,
                                    GptWeights* weights);

}  // namespace muster::models

#endif  // MUSTER_MODELS_GPT_HUGGING_FACE_H_
