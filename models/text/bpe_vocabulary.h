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

namespace muster {

// GPT-2's byte-level byte-pair encoding (Radford et al., 2019): a text is cut
// into pieces (text_pieces.h), a piece into bytes, and these are merged into
// longer tokens. Bytes that are no UTF-8 are encoded as any others.
class BpeVocabulary : public Vocabulary {
 public:
  static constexpr int64_t kMostTokens = 1 << 20;
  static constexpr int64_t kMostTokenBytes = 1 << 16;

  struct Parts {
    // The text of each token.
    std::vector<std::string> tokens;
    // Which tokens the single bytes are.
    std::array<int32_t, 256> bytes;
    // The first one goes first.
    std::vector<BpeMerge> merges;
  };

  // InvalidArgument: too much; a byte's token is another text; a merge's token
  // is not its parts' text, or the same parts are merged twice.
  static absl::StatusOr<std::unique_ptr<BpeVocabulary>> Create(Parts parts);

  const Parts& parts() const { return parts_; }

  const char* kind() const override { return "bpe"; }
  int64_t size() const override {
    return static_cast<int64_t>(parts_.tokens.size());
  }
  // A special token's text ("<|endoftext|>") is a text like any other.
  absl::StatusOr<std::vector<int32_t>> Encode(
      std::string_view text) const override;
  std::string Decode(std::span<const int32_t> tokens) const override;
  std::string Serialize() const override;

 private:
  explicit BpeVocabulary(Parts parts);

  Parts parts_;
  BpeMergeTable table_;
};

}  // namespace muster

#endif  // MUSTER_MODELS_TEXT_BPE_VOCABULARY_H_
