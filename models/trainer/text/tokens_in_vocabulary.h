#ifndef MUSTER_MODELS_TRAINER_TEXT_TOKENS_IN_VOCABULARY_H_
#define MUSTER_MODELS_TRAINER_TEXT_TOKENS_IN_VOCABULARY_H_

#include <memory>

#include "absl/status/statusor.h"
#include "models/text/tokens.h"
#include "models/text/vocabulary.h"
#include "models/trainer/text/gpt_text.h"

namespace muster::models {

// The text in the tokens of `vocabulary`, which is a model's. If the text has
// other tokens, it is re-encoded in memory. InvalidArgument: the model has no
// token for some text; gives its position. Other errors are those of
// Tokens::Read.
absl::StatusOr<std::shared_ptr<const Tokens>> TokensInVocabulary(
    const GptText& text, const Vocabulary& vocabulary);

}  // namespace muster::models

#endif  // MUSTER_MODELS_TRAINER_TEXT_TOKENS_IN_VOCABULARY_H_
