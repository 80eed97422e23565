#include "models/text/bpe_merges.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <limits>

#include "base/check.h"

namespace muster::models {
namespace {

// Up to this length, a scan of all tokens for each merge is faster than the
// heap.
constexpr size_t kShort = 24;
constexpr uint32_t kEnd = ~uint32_t{0};
// Marks a token that was merged into an earlier one.
constexpr int32_t kGone = -1;

}  // namespace

BpeMergeTable::BpeMergeTable(std::span<const BpeMerge> merges)
    : merges_(merges.begin(), merges.end()),
      mask_(std::bit_ceil(merges.size() * 2 + 1) - 1),
      slots_(mask_ + 1, kNone) {
  for (size_t i = 0; i < merges_.size(); ++i) {
    size_t slot = SlotOf(merges_[i].left, merges_[i].right);
    while (slots_[slot] != kNone) slot = (slot + 1) & mask_;
    slots_[slot] = static_cast<uint32_t>(i);
  }
}

void BpeMerger::Merge(std::vector<int32_t>* tokens) {
  MUSTER_CHECK(tokens->size() <=
               static_cast<size_t>(std::numeric_limits<int32_t>::max()));
  if (tokens->size() <= kShort) {
    MergeShort(tokens);
  } else {
    MergeLong(tokens);
  }
}

void BpeMerger::MergeShort(std::vector<int32_t>* tokens) {
  if (tokens->size() < 2) return;
  places_.clear();
  for (size_t i = 0; i + 1 < tokens->size(); ++i) {
    places_.push_back(table_.Find((*tokens)[i], (*tokens)[i + 1]));
  }
  while (!places_.empty()) {
    // The leftmost of the smallest.
    const auto least = std::min_element(places_.begin(), places_.end());
    if (*least == BpeMergeTable::kNone) return;
    const auto at = static_cast<size_t>(least - places_.begin());
    (*tokens)[at] = table_.at(*least).merged;
    tokens->erase(tokens->begin() + static_cast<ptrdiff_t>(at) + 1);
    places_.erase(least);
    if (at > 0) {
      places_[at - 1] = table_.Find((*tokens)[at - 1], (*tokens)[at]);
    }
    if (at < places_.size()) {
      places_[at] = table_.Find((*tokens)[at], (*tokens)[at + 1]);
    }
  }
}

void BpeMerger::Offer(const std::vector<int32_t>& tokens, uint32_t at) {
  if (next_[at] == kEnd) return;
  const uint32_t place = table_.Find(tokens[at], tokens[next_[at]]);
  if (place == BpeMergeTable::kNone) return;
  heap_.push_back(static_cast<uint64_t>(place) << 32 | at);
  std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
}

void BpeMerger::MergeLong(std::vector<int32_t>* tokens) {
  const auto size = static_cast<uint32_t>(tokens->size());
  next_.resize(size);
  previous_.resize(size);
  heap_.clear();
  for (uint32_t i = 0; i < size; ++i) {
    next_[i] = i + 1 < size ? i + 1 : kEnd;
    previous_[i] = i > 0 ? i - 1 : kEnd;
  }
  for (uint32_t i = 0; i < size; ++i) Offer(*tokens, i);
  while (!heap_.empty()) {
    std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
    const BpeMerge& merge =
        table_.at(static_cast<uint32_t>(heap_.back() >> 32));
    const auto at = static_cast<uint32_t>(heap_.back());
    heap_.pop_back();
    const uint32_t second = next_[at];
    // One of the two may have been merged with another token meanwhile.
    if ((*tokens)[at] != merge.left || second == kEnd ||
        (*tokens)[second] != merge.right) {
      continue;
    }
    (*tokens)[at] = merge.merged;
    (*tokens)[second] = kGone;
    next_[at] = next_[second];
    if (next_[at] != kEnd) previous_[next_[at]] = at;
    if (previous_[at] != kEnd) Offer(*tokens, previous_[at]);
    Offer(*tokens, at);
  }
  std::erase(*tokens, kGone);
}

}  // namespace muster::models
