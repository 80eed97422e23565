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

namespace muster {

// A token for each different byte of a text, numbered in the bytes' order, as
// nanoGPT's character data.
class CharVocabulary : public Vocabulary {
 public:
  // Of the bytes that `text` has.
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
  // By byte; -1 for those that there are not.
  std::array<int32_t, 256> tokens_;
};

}  // namespace muster

#endif  // MUSTER_MODELS_TEXT_CHAR_VOCABULARY_H_
