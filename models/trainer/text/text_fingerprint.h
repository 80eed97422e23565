#ifndef MUSTER_MODELS_TRAINER_TEXT_TEXT_FINGERPRINT_H_
#define MUSTER_MODELS_TRAINER_TEXT_TEXT_FINGERPRINT_H_

#include <string>

#include "absl/status/statusor.h"
#include "models/trainer/text/gpt_text.h"

namespace muster::models {

// Identifies a text: "60000 tokens (3f0a8c5d1e2b4c67)", the number of tokens
// and an XXH3 hash of the tokens and their meaning.
//
// All of up to 4 Mi tokens are hashed. Of a longer text, which would have to be
// read from its file, 256 windows of 16 Ki tokens are hashed, evenly spaced
// from its beginning to its end. An insertion or deletion anywhere shifts all
// later tokens, so it is detected; a replacement by the same number of tokens
// between two windows is not.
//
// Errors are those of Tokens::Read.
absl::StatusOr<std::string> TextFingerprint(const GptText& text);

}  // namespace muster::models

#endif  // MUSTER_MODELS_TRAINER_TEXT_TEXT_FINGERPRINT_H_
