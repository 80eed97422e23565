#include "models/text/vocabulary.h"

#include <algorithm>
#include <cstddef>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/fnv_hash.h"

namespace muster::models {

absl::Status TokensInMemory::Read(int64_t begin, std::span<int32_t> out) const {
  const auto wanted = static_cast<int64_t>(out.size());
  if (begin < 0 || wanted > count() || begin > count() - wanted) {
    return absl::OutOfRangeError(
        absl::StrCat(wanted, " tokens from ", begin, " on, of ", count()));
  }
  std::copy_n(tokens_.begin() + begin, out.size(), out.begin());
  return absl::OkStatus();
}

std::string Vocabulary::Describe() const {
  const uint64_t hash = FnvHashOf(Serialize());
  return absl::StrCat(
      kind(), ", ", size(), " tokens (",
      absl::Hex(static_cast<uint32_t>(hash ^ hash >> 32), absl::kZeroPad8),
      ")");
}

CharVocabulary::CharVocabulary(std::string_view text) {
  tokens_.fill(-1);
  for (const char c : text) tokens_[static_cast<unsigned char>(c)] = 0;
  for (size_t byte = 0; byte < tokens_.size(); ++byte) {
    if (tokens_[byte] < 0) continue;
    tokens_[byte] = static_cast<int32_t>(bytes_.size());
    bytes_.push_back(static_cast<char>(byte));
  }
}

absl::StatusOr<std::vector<int32_t>> CharVocabulary::Encode(
    std::string_view text) const {
  std::vector<int32_t> tokens;
  tokens.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (tokens_[byte] < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("byte ", static_cast<int>(byte), " at position ", i,
                       " is not in the vocabulary of ", size(), " bytes"));
    }
    tokens.push_back(tokens_[byte]);
  }
  return tokens;
}

std::string CharVocabulary::Decode(std::span<const int32_t> tokens) const {
  std::string text;
  text.reserve(tokens.size());
  for (const int32_t token : tokens) {
    MUSTER_CHECK(token >= 0 && token < size()) << token << " of " << size();
    text.push_back(bytes_[static_cast<size_t>(token)]);
  }
  return text;
}

std::string CharVocabulary::Serialize() const {
  return "muster characters\n" + bytes_;
}

}  // namespace muster::models
