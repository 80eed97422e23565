#ifndef MUSTER_MODELS_TEXT_CHAR_VOCABULARY_H_
#define MUSTER_MODELS_TEXT_CHAR_VOCABULARY_H_

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "models/text/vocabulary.h"

namespace muster::models {

// One token per distinct byte of a text, numbered in the order of the bytes, as
// in nanoGPT's character data.
class CharVocabulary : public Vocabulary {
 public:
  // Makes tokens for the bytes that occur in `text`.
  explicit CharVocabulary(std::string_view text);

  // The bytes, by token.
  const std::string& bytes() const { return bytes_; }

  const char* kind() const override { return "characters"; }
  int64_t size() const override { return static_cast<int64_t>(bytes_.size()); }
  absl::StatusOr<std::vector<int32_t>> Encode(
      std::string_view text) const override;
  std::string Decode(std::span<const int32_t> tokens) const override;
  std::string Serialize() const override;

 private:
  std::string bytes_;
  // By byte; -1: no token.
  std::array<int32_t, 256> tokens_;
};

}  // namespace muster::models

#endif  // MUSTER_MODELS_TEXT_CHAR_VOCABULARY_H_
