#include "models/text/stored_vocabulary.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "base/little_endian.h"
#include "models/text/bpe_vocabulary.h"
#include "models/text/vocabulary.h"

namespace muster::models {
namespace {

constexpr std::string_view kCharacters = "muster characters\n";
constexpr std::string_view kBpe = "muster bpe\n";

absl::Status Short() {
  return absl::InvalidArgumentError("the vocabulary is cut short");
}

// Reads integers from a text. If the text ends early, the results are 0 or
// empty, and cut_short() is true.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  template <typename Integer>
  Integer Take() {
    if (bytes_.size() < sizeof(Integer)) {
      short_ = true;
      return 0;
    }
    const Integer value = ReadInteger<Integer>(bytes_);
    bytes_.remove_prefix(sizeof(Integer));
    return value;
  }
  std::string TakeBytes(size_t count) {
    if (bytes_.size() < count) {
      short_ = true;
      return "";
    }
    std::string taken(bytes_.substr(0, count));
    bytes_.remove_prefix(count);
    return taken;
  }

  bool cut_short() const { return short_; }
  size_t left() const { return bytes_.size(); }

 private:
  std::string_view bytes_;
  bool short_ = false;
};

absl::StatusOr<std::unique_ptr<Vocabulary>> ParseCharacters(
    std::string_view bytes) {
  auto vocabulary = std::make_unique<CharVocabulary>(bytes);
  if (bytes.empty() || vocabulary->bytes() != bytes) {
    return absl::InvalidArgumentError(
        "the vocabulary's characters are none, or not in order");
  }
  return vocabulary;
}

absl::StatusOr<std::unique_ptr<Vocabulary>> ParseBpe(std::string_view bytes) {
  Reader reader(bytes);
  const auto tokens = reader.Take<uint32_t>();
  const auto merges = reader.Take<uint32_t>();
  // Reject counts that are too large for the remaining bytes, before memory for
  // so many tokens and merges is reserved.
  if (reader.left() / sizeof(uint32_t) < tokens ||
      reader.left() / sizeof(BpeMerge) < merges) {
    return Short();
  }
  BpeVocabulary::Parts parts;
  for (int32_t& token : parts.bytes) token = reader.Take<int32_t>();
  parts.merges.reserve(merges);
  for (uint32_t i = 0; i < merges; ++i) {
    BpeMerge merge;
    merge.left = reader.Take<int32_t>();
    merge.right = reader.Take<int32_t>();
    merge.merged = reader.Take<int32_t>();
    parts.merges.push_back(merge);
  }
  std::vector<uint32_t> lengths(tokens);
  for (uint32_t& length : lengths) length = reader.Take<uint32_t>();
  parts.tokens.reserve(tokens);
  for (const uint32_t length : lengths) {
    parts.tokens.push_back(reader.TakeBytes(length));
  }
  if (reader.cut_short()) return Short();
  if (reader.left() > 0) {
    return absl::InvalidArgumentError("something is behind the vocabulary");
  }
  return BpeVocabulary::Create(std::move(parts));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Vocabulary>> ParseVocabulary(
    std::string_view bytes) {
  if (bytes.starts_with(kCharacters)) {
    return ParseCharacters(bytes.substr(kCharacters.size()));
  }
  if (bytes.starts_with(kBpe)) return ParseBpe(bytes.substr(kBpe.size()));
  return absl::InvalidArgumentError("this is no vocabulary");
}

}  // namespace muster::models
