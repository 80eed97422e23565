#include "models/trainer/text/tokens_in_vocabulary.h"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace muster::models {

absl::StatusOr<std::shared_ptr<const Tokens>> TokensInVocabulary(
    const GptText& text, const Vocabulary& vocabulary) {
  if (text.vocabulary->Serialize() == vocabulary.Serialize()) {
    return text.tokens;
  }
  std::vector<int32_t> tokens(static_cast<size_t>(text.tokens->count()));
  if (absl::Status status = text.tokens->Read(0, tokens); !status.ok()) {
    return status;
  }
  auto encoded = vocabulary.Encode(text.vocabulary->Decode(tokens));
  if (!encoded.ok()) return encoded.status();
  return std::make_shared<const TokensInMemory>(*std::move(encoded));
}

}  // namespace muster::models
