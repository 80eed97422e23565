#ifndef MUSTER_MODELS_TEXT_BPE_VOCABULARY_H_
#define MUSTER_MODELS_TEXT_BPE_VOCABULARY_H_

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "models/text/bpe_merges.h"
#include "models/text/vocabulary.h"

namespace muster::models {

// GPT-2's byte-level byte-pair encoding (Radford et al., 2019): a text is split
// into pieces (text_pieces.h) and each piece into bytes, which are merged into
// longer tokens. Bytes that are not UTF-8 are encoded like others.
class BpeVocabulary : public Vocabulary {
 public:
  static constexpr int64_t kMaxTokens = 1 << 20;
  static constexpr int64_t kMaxTokenBytes = 1 << 16;

  struct Parts {
    // The text of each token.
    std::vector<std::string> tokens;
    // By byte: its token.
    std::array<int32_t, 256> bytes;
    // In order of priority.
    std::vector<BpeMerge> merges;
  };

  // InvalidArgument: there is too much; the token of a byte has another text;
  // the token of a merge does not have the text of its parts; or a pair is
  // merged twice.
  static absl::StatusOr<std::unique_ptr<BpeVocabulary>> Create(Parts parts);

  const Parts& parts() const { return parts_; }

  const char* kind() const override { return "bpe"; }
  int64_t size() const override {
    return static_cast<int64_t>(parts_.tokens.size());
  }
  // The text of a special token ("<|endoftext|>") is encoded like any other
  // text.
  absl::StatusOr<std::vector<int32_t>> Encode(
      std::string_view text) const override;
  std::string Decode(std::span<const int32_t> tokens) const override;
  std::string Serialize() const override;

 private:
  explicit BpeVocabulary(Parts parts);

  Parts parts_;
  BpeMergeTable table_;
};

}  // namespace muster::models

#endif  // MUSTER_MODELS_TEXT_BPE_VOCABULARY_H_
