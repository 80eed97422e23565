#ifndef MUSTER_MODELS_GPT_HUGGING_FACE_H_
#define MUSTER_MODELS_GPT_HUGGING_FACE_H_

#include <string>

#include "absl/status/status.h"
#include "models/gpt/gpt_weights.h"

namespace muster {

// Writes a whole model so that Hugging Face's GPT2LMHeadModel.from_pretrained
// reads it: `folder`/model.safetensors and `folder`/config.json; the folder is
// made. Biases that the model has not are written as zeros, as theirs always
// has some. Errors name the file.
absl::Status WriteHuggingFaceModel(const GptWeights& weights,
                                   const std::string& folder);

// Fills weights, of a whole model or a stage, from a safetensors file with
// Hugging Face's names, with "transformer." or without, of float32, float16 or
// bfloat16. What belongs to other layers, the head (which is the token table)
// and their attention masks are passed over.
// NotFound, DataLoss: the file. InvalidArgument: a tensor that is not there or
// has another shape; one that the model has no place for.
absl::Status ReadHuggingFaceWeights(const std::string& path,
                                    GptWeights* weights);

}  // namespace muster

#endif  // MUSTER_MODELS_GPT_HUGGING_FACE_H_
