#ifndef MUSTER_MODELS_TRAINER_TEXT_GPT_TEXT_H_
#define MUSTER_MODELS_TRAINER_TEXT_GPT_TEXT_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "models/text/tokens.h"
#include "models/text/vocabulary.h"

namespace muster::models {

// The files of a text.
struct GptTextFiles {
  // The text itself, or its tokens (`gpt prepare`).
  std::string data;
  // For a text: GPT-2's vocab.json and merges.txt. Both empty: its characters
  // are the tokens.
  std::string vocabulary;
  std::string merges;
};

// A text to train on.
struct GptText {
  std::shared_ptr<const Vocabulary> vocabulary;
  std::shared_ptr<const Tokens> tokens;
};

// InvalidArgument, NotFound: names the file and the problem.
absl::StatusOr<GptText> LoadText(const GptTextFiles& files);

// Encodes the text into a token file at `path`; returns the number of tokens.
// Errors are those of LoadText and WriteTokenFile.
absl::StatusOr<int64_t> PrepareText(const GptTextFiles& files,
                                    const std::string& path);

}  // namespace muster::models

#endif  // MUSTER_MODELS_TRAINER_TEXT_GPT_TEXT_H_
