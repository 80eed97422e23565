#ifndef MUSTER_MODELS_TRAINER_TEXT_GPT_TEXT_H_
#define MUSTER_MODELS_TRAINER_TEXT_GPT_TEXT_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "models/text/vocabulary.h"

namespace muster::models {

// Paths of the files with a text and its vocabulary.
struct GptTextFiles {
  // File with the text itself, or with its tokens as written by `gpt prepare`.
  std::string data;
  // Paths of GPT-2's files vocab.json and merges.txt, used if `data` is a text.
  // If both paths are empty, each character of the text is a token.
  std::string vocabulary;
  std::string merges;
};

// A text to train on: its tokens and their vocabulary.
struct GptText {
  std::shared_ptr<const Vocabulary> vocabulary;
  std::shared_ptr<const Tokens> tokens;
};

// Loads the text. InvalidArgument, NotFound: a file is wrong or missing; the
// message names the file and the problem.
absl::StatusOr<GptText> LoadText(const GptTextFiles& files);

// Encodes the text into a token file at `path`; returns the number of tokens.
// Errors are those of LoadText and WriteTokenFile.
absl::StatusOr<int64_t> PrepareText(const GptTextFiles& files,
                                    const std::string& path);

// Returns an identification of a text: "60000 tokens (3f0a8c5d1e2b4c67)", the
// number of tokens and an XXH3 hash of the tokens and the vocabulary.
//
// All tokens are hashed if there are up to 4 Mi. A longer text would have to be
// read completely from its file, so only 256 windows of 16 Ki tokens are
// hashed, evenly spaced from the beginning to the end. An insertion or deletion
// anywhere shifts all later tokens, so it is detected; a replacement by the
// same number of tokens between two windows is not.
//
// Errors are those of Tokens::Read.
absl::StatusOr<std::string> TextFingerprint(const GptText& text);

// Returns the text as tokens of `vocabulary`, the vocabulary of a model. A text
// with another vocabulary is re-encoded in memory. InvalidArgument: the model
// has no token for some byte; the message gives its position. Other errors are
// those of Tokens::Read.
absl::StatusOr<std::shared_ptr<const Tokens>> TokensInVocabulary(
    const GptText& text, const Vocabulary& vocabulary);

}  // namespace muster::models

#endif  // MUSTER_MODELS_TRAINER_TEXT_GPT_TEXT_H_
