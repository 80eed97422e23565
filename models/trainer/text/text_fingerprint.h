#ifndef MUSTER_MODELS_TRAINER_TEXT_TEXT_FINGERPRINT_H_
#define MUSTER_MODELS_TRAINER_TEXT_TEXT_FINGERPRINT_H_

#include <string>

#include "absl/status/statusor.h"
#include "models/trainer/text/gpt_text.h"

namespace muster {

// "60000 tokens (3f0a8c5d1e2b4c67)", by which texts are told apart: how many
// tokens, and XXH3 over them and over what they mean.
//
// Up to 4 Mi tokens all of them count. A longer text, which would have to be
// read from its file first, is seen through windows: 256 of 16 Ki tokens, from
// its beginning to its end, as far from one another each. Tokens put in or left
// out anywhere move all that is behind them, so they are noticed; some that
// were replaced by as many others between two windows are not.
//
// Errors are Tokens::Read's.
absl::StatusOr<std::string> TextFingerprint(const GptText& text);

}  // namespace muster

#endif  // MUSTER_MODELS_TRAINER_TEXT_TEXT_FINGERPRINT_H_
