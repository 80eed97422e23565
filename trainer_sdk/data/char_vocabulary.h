#ifndef MUSTER_TRAINER_SDK_DATA_CHAR_VOCABULARY_H_
#define MUSTER_TRAINER_SDK_DATA_CHAR_VOCABULARY_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace muster {

// A token for each different byte of a text, numbered in the bytes' order, as
// nanoGPT's character data. Immutable.
class CharVocabulary {
 public:
  // Of the bytes that `text` has.
  explicit CharVocabulary(std::string_view text);

  int64_t size() const { return static_cast<int64_t>(bytes_.size()); }
  // The bytes, by token.
  const std::string& bytes() const { return bytes_; }

  // InvalidArgument: a byte that the vocabulary has not, and where.
  absl::StatusOr<std::vector<int32_t>> Encode(std::string_view text) const;
  // Tokens are below size().
  std::string Decode(const std::vector<int32_t>& tokens) const;

 private:
  std::string bytes_;
  // By byte; -1 for those that there are not.
  std::array<int32_t, 256> tokens_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_DATA_CHAR_VOCABULARY_H_
