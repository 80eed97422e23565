#ifndef MUSTER_MODELS_TEXT_BPE_VOCABULARY_H_
#define MUSTER_MODELS_TEXT_BPE_VOCABULARY_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "models/text/vocabulary.h"

namespace muster::models {

// Two adjacent tokens that are merged into one.
struct BpeMerge {
  int32_t left = 0;
  int32_t right = 0;
  int32_t merged = 0;

  friend bool operator==(const BpeMerge&, const BpeMerge&) = default;
};

// A list of merges, in order of priority. Immutable, so thread-safe.
class BpeMergeTable {
 public:
  // Tokens must not be negative, and no two merges may have the same pair.
  explicit BpeMergeTable(std::span<const BpeMerge> merges);

  static constexpr uint32_t kNone = ~uint32_t{0};

  // Returns the priority (index in the list) of the merge of these two tokens;
  // kNone if no such merge exists.
  uint32_t Find(int32_t left, int32_t right) const {
    size_t slot = SlotOf(left, right);
    for (;; slot = (slot + 1) & mask_) {
      const uint32_t place = slots_[slot];
      if (place == kNone) return kNone;
      const BpeMerge& merge = merges_[place];
      if (merge.left == left && merge.right == right) return place;
    }
  }
  const BpeMerge& at(uint32_t place) const { return merges_[place]; }

 private:
  size_t SlotOf(int32_t left, int32_t right) const {
    const uint64_t pair =
        static_cast<uint64_t>(left) << 32 | static_cast<uint32_t>(right);
    return static_cast<size_t>(pair * 0x9e3779b97f4a7c15u >> 32) & mask_;
  }

  std::vector<BpeMerge> merges_;
  size_t mask_;  // the number of elements of the hash table slots_, minus 1
  // A hash table of indices into merges_, at most half full.
  std::vector<uint32_t> slots_;
};

// Merges the tokens of one piece of text until no merge applies. In each step
// it merges the pair whose merge has the highest priority. If this pair occurs
// several times, the leftmost one is merged. The time is nearly linear in the
// length of the piece (a heap of merges over a linked list), so long runs of
// one letter are no problem. The object reuses its memory. Not thread-safe.
class BpeMerger {
 public:
  // `table` must outlive this object.
  explicit BpeMerger(const BpeMergeTable& table) : table_(table) {}

  // Merges `tokens` in place; at most 2^31 - 1 tokens.
  void Merge(std::vector<int32_t>* tokens);

 private:
  void MergeShort(std::vector<int32_t>* tokens);
  void MergeLong(std::vector<int32_t>* tokens);
  // Adds the merge of the token at position `at` with its successor to the
  // heap, if such a merge exists.
  void Offer(const std::vector<int32_t>& tokens, uint32_t at);

  const BpeMergeTable& table_;
  // Linked list of the remaining tokens, indexed by position: the positions of
  // the next and of the previous token.
  std::vector<uint32_t> next_;
  std::vector<uint32_t> previous_;
  // Heap of possible merges. An entry combines the merge's priority (high bits)
  // and the position of its left token, so the smallest entry is the next
  // merge.
  std::vector<uint64_t> heap_;
  // Used instead of `heap_` for short pieces: places_[i] is the priority of the
  // merge of tokens i and i + 1 (BpeMergeTable::Find).
  std::vector<uint32_t> places_;
};

// GPT-2's byte-level byte-pair encoding (Radford et al., 2019): a text is split
// into pieces (text_pieces.h) and each piece into bytes, which are merged into
// longer tokens. Bytes that are not valid UTF-8 are encoded like all other
// bytes.
class BpeVocabulary : public Vocabulary {
 public:
  static constexpr int64_t kMaxTokens = 1 << 20;
  static constexpr int64_t kMaxTokenBytes = 1 << 16;

  struct Parts {
    // The text of each token.
    std::vector<std::string> tokens;
    // Indexed by byte: the number of the token that stands for this byte.
    std::array<int32_t, 256> bytes;
    // The merges, in order of priority.
    std::vector<BpeMerge> merges;
  };

  // Makes a vocabulary from its parts. InvalidArgument: there are too many
  // tokens or merges; a token is empty or too long; the token of a byte does
  // not exist, or its text is not this byte; a merge names a token that does
  // not exist; the token of a merge does not have the text of its parts; or a
  // pair is merged twice.
  static absl::StatusOr<std::unique_ptr<BpeVocabulary>> Create(Parts parts);

  const char* kind() const override { return "bpe"; }
  int64_t size() const override {
    return static_cast<int64_t>(parts_.tokens.size());
  }
  // Encodes a text. The text of a special token ("<|endoftext|>") is encoded
  // like any other text.
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
