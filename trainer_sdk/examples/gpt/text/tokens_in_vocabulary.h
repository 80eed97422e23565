#ifndef MUSTER_TRAINER_SDK_EXAMPLES_GPT_TEXT_TOKENS_IN_VOCABULARY_H_
#define MUSTER_TRAINER_SDK_EXAMPLES_GPT_TEXT_TOKENS_IN_VOCABULARY_H_

#include <memory>

#include "absl/status/statusor.h"
#include "trainer_sdk/data/tokens.h"
#include "trainer_sdk/data/vocabulary.h"
#include "trainer_sdk/examples/gpt/text/gpt_text.h"

namespace muster {

// The same text in the tokens of `vocabulary`, a model's: those that it has, or
// others, and then all of it is in memory. InvalidArgument: what of it the
// model has no token for, and where. Others are Tokens::Read's.
absl::StatusOr<std::shared_ptr<const Tokens>> TokensInVocabulary(
    const GptText& text, const Vocabulary& vocabulary);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_EXAMPLES_GPT_TEXT_TOKENS_IN_VOCABULARY_H_
