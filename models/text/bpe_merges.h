#ifndef MUSTER_MODELS_TEXT_BPE_MERGES_H_
#define MUSTER_MODELS_TEXT_BPE_MERGES_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace muster {

// Two tokens, one behind the other, that become one.
struct BpeMerge {
  int32_t left = 0;
  int32_t right = 0;
  int32_t merged = 0;

  friend bool operator==(const BpeMerge&, const BpeMerge&) = default;
};

// Which merges there are, the earlier in the list the sooner they are done.
// Immutable, so thread-safe.
class BpeMergeTable {
 public:
  // Tokens are not negative; no two merges are of the same two tokens.
  explicit BpeMergeTable(std::span<const BpeMerge> merges);

  // The place in the list of the merge of these two; kNone where there is none.
  static constexpr uint32_t kNone = ~uint32_t{0};
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
  // Places by hash, at most half of them taken.
  size_t mask_;
  std::vector<uint32_t> slots_;
};

// Merges the tokens of one piece of text until nothing more can be: again and
// again the earliest merge that there is, the leftmost of equals. As good as
// linear in the piece's length (a heap of merges over a linked list), so that a
// long line of one letter is no trap. Keeps its memory between pieces; one
// thread at a time.
class BpeMerger {
 public:
  // `table` must outlive it.
  explicit BpeMerger(const BpeMergeTable& table) : table_(table) {}

  // In place. At most 2^31 - 1 tokens.
  void Merge(std::vector<int32_t>* tokens);

 private:
  void MergeShort(std::vector<int32_t>* tokens);
  void MergeLong(std::vector<int32_t>* tokens);
  // Puts the merge of the token at `at` with the next one into the heap.
  void Offer(const std::vector<int32_t>& tokens, uint32_t at);

  const BpeMergeTable& table_;
  // By place: which token follows and precedes, past the merged ones.
  std::vector<uint32_t> next_;
  std::vector<uint32_t> previous_;
  // Merge's place in the list, then token's place: the smallest is next.
  std::vector<uint64_t> heap_;
  // For short pieces: the merge of each token with its next.
  std::vector<uint32_t> places_;
};

}  // namespace muster

#endif  // MUSTER_MODELS_TEXT_BPE_MERGES_H_
