#ifndef MUSTER_MODELS_TEXT_STORED_VOCABULARY_H_
#define MUSTER_MODELS_TEXT_STORED_VOCABULARY_H_

#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "models/text/vocabulary.h"

namespace muster::models {

// Returns the vocabulary that Vocabulary::Serialize has written as `bytes`.
// InvalidArgument: the bytes are not a vocabulary, or an inconsistent one.
absl::StatusOr<std::unique_ptr<Vocabulary>> ParseVocabulary(
    std::string_view bytes);

}  // namespace muster::models

#endif  // MUSTER_MODELS_TEXT_STORED_VOCABULARY_H_
