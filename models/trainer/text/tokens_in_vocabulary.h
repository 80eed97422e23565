#ifndef MUSTER_MODELS_TRAINER_TEXT_TOKENS_IN_VOCABULARY_H_
#define MUSTER_MODELS_TRAINER_TEXT_TOKENS_IN_VOCABULARY_H_

#include <memory>

#include "absl/status/statusor.h"
#include "models/text/tokens.h"
#include "models/text/vocabulary.h"
#include "models/trainer/text/gpt_text.h"

namespace muster {

// The same text in the tokens of `vocabulary`, a model's: those that it has, or
// others, and then all of it is in memory. InvalidArgument: what of it the
// model has no token for, and where. Others are Tokens::Read's.
absl::StatusOr<std::shared_ptr<const Tokens>> TokensInVocabulary(
    const GptText& text, const Vocabulary& vocabulary);

}  // namespace muster

#endif  // MUSTER_MODELS_TRAINER_TEXT_TOKENS_IN_VOCABULARY_H_
