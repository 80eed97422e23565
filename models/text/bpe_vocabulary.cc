#include "models/text/bpe_vocabulary.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <functional>
#include <limits>
#include <unordered_map>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/little_endian.h"
#include "models/text/text_pieces.h"

namespace muster::models {
namespace {

// The maximum number of tokens of a piece for which the next merge is found by
// a scan of all tokens. In longer pieces a heap is faster.
constexpr size_t kShort = 24;
constexpr uint32_t kEnd = ~uint32_t{0};
// Marks the position of a token that was merged into the token before it.
// Marked positions are removed from the list after the last merge.
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
    // The position of the next merge. The merge with the smallest index in the
    // list of merges has the highest priority. If this merge is possible at
    // several positions, `least` is the leftmost one.
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
    // Skip a stale heap entry: one of its two tokens has been merged with
    // another token meanwhile.
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

namespace {

// kRememberedBytes: the maximum size in bytes of a piece of text whose tokens
// are cached. The cache is for words, because words recur; a longer piece is
// not a word. kRememberedPieces: the maximum number of cached pieces.
constexpr size_t kRememberedBytes = 64;
constexpr size_t kRememberedPieces = 1 << 16;

std::string Quoted(const std::string& text) {
  return absl::StrCat("'", absl::CHexEscape(text.substr(0, 100)), "'");
}

bool Exists(int32_t token, const BpeVocabulary::Parts& parts) {
  return token >= 0 && static_cast<size_t>(token) < parts.tokens.size();
}

absl::Status CheckTokens(const BpeVocabulary::Parts& parts) {
  if (parts.tokens.size() > static_cast<size_t>(BpeVocabulary::kMaxTokens)) {
    return absl::InvalidArgumentError(
        absl::StrCat("a vocabulary of ", parts.tokens.size(),
                     " tokens; at most ", BpeVocabulary::kMaxTokens));
  }
  for (size_t i = 0; i < parts.tokens.size(); ++i) {
    const size_t bytes = parts.tokens[i].size();
    if (bytes < 1 ||
        bytes > static_cast<size_t>(BpeVocabulary::kMaxTokenBytes)) {
      return absl::InvalidArgumentError(
          absl::StrCat("token ", i, " has ", bytes, " bytes; 1 to ",
                       BpeVocabulary::kMaxTokenBytes, " are possible"));
    }
  }
  for (size_t byte = 0; byte < parts.bytes.size(); ++byte) {
    const int32_t token = parts.bytes[byte];
    const std::string text(1, static_cast<char>(byte));
    if (!Exists(token, parts) ||
        parts.tokens[static_cast<size_t>(token)] != text) {
      return absl::InvalidArgumentError(
          absl::StrCat("byte ", byte, " has no token of its own"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckMerges(const BpeVocabulary::Parts& parts) {
  if (parts.merges.size() > static_cast<size_t>(BpeVocabulary::kMaxTokens)) {
    return absl::InvalidArgumentError(absl::StrCat(
        parts.merges.size(), " merges; at most ", BpeVocabulary::kMaxTokens));
  }
  for (size_t i = 0; i < parts.merges.size(); ++i) {
    const BpeMerge& merge = parts.merges[i];
    for (const int32_t token : {merge.left, merge.right, merge.merged}) {
      if (!Exists(token, parts)) {
        return absl::InvalidArgumentError(
            absl::StrCat("merge ", i + 1, " names token ", token, " of ",
                         parts.tokens.size()));
      }
    }
    const std::string& left = parts.tokens[static_cast<size_t>(merge.left)];
    const std::string& right = parts.tokens[static_cast<size_t>(merge.right)];
    const std::string& merged = parts.tokens[static_cast<size_t>(merge.merged)];
    if (left + right != merged) {
      return absl::InvalidArgumentError(
          absl::StrCat("merge ", i + 1, " makes ", Quoted(merged), " of ",
                       Quoted(left), " and ", Quoted(right)));
    }
  }
  return absl::OkStatus();
}

// Returns OK if no two merges have the same pair of tokens, otherwise
// InvalidArgument.
absl::Status CheckDistinct(const BpeVocabulary::Parts& parts) {
  const std::vector<BpeMerge>& merges = parts.merges;
  std::vector<size_t> order(merges.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto pair = [&](size_t i) {
    return std::pair(merges[i].left, merges[i].right);
  };
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::pair(pair(a), a) < std::pair(pair(b), b);
  });
  for (size_t i = 1; i < order.size(); ++i) {
    if (pair(order[i]) != pair(order[i - 1])) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "merge ", order[i] + 1, " is the same as merge ", order[i - 1] + 1));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<BpeVocabulary>> BpeVocabulary::Create(
    Parts parts) {
  for (const auto check : {CheckTokens, CheckMerges, CheckDistinct}) {
    if (absl::Status wrong = check(parts); !wrong.ok()) return wrong;
  }
  return std::unique_ptr<BpeVocabulary>(new BpeVocabulary(std::move(parts)));
}

BpeVocabulary::BpeVocabulary(Parts parts)
    : parts_(std::move(parts)), table_(parts_.merges) {}

absl::StatusOr<std::vector<int32_t>> BpeVocabulary::Encode(
    std::string_view text) const {
  if (text.size() > static_cast<size_t>(std::numeric_limits<int32_t>::max())) {
    return absl::InvalidArgumentError(
        "a text of 2 GiB or more is to be encoded in parts (WholePieces)");
  }
  struct Place {
    size_t begin;
    size_t end;
  };
  std::vector<int32_t> tokens;
  // Key: an earlier piece of the text; value: the range of its tokens in
  // `tokens`.
  std::unordered_map<std::string_view, Place> seen;
  BpeMerger merger(table_);
  std::vector<int32_t> merged;
  while (!text.empty()) {
    const std::string_view piece = TakePiece(&text);
    const bool remember = piece.size() <= kRememberedBytes;
    if (remember) {
      if (const auto found = seen.find(piece); found != seen.end()) {
        // The tokens are copied element by element, because `tokens` may be
        // reallocated while it grows.
        for (size_t i = found->second.begin; i < found->second.end; ++i) {
          tokens.push_back(tokens[i]);
        }
        continue;
      }
    }
    merged.clear();
    for (const char c : piece) {
      merged.push_back(parts_.bytes[static_cast<unsigned char>(c)]);
    }
    merger.Merge(&merged);
    if (remember) {
      if (seen.size() >= kRememberedPieces) seen.clear();
      seen[piece] = {tokens.size(), tokens.size() + merged.size()};
    }
    tokens.insert(tokens.end(), merged.begin(), merged.end());
  }
  return tokens;
}

std::string BpeVocabulary::Decode(std::span<const int32_t> tokens) const {
  std::string text;
  for (const int32_t token : tokens) {
    MUSTER_CHECK(Exists(token, parts_)) << token << " of " << size();
    text += parts_.tokens[static_cast<size_t>(token)];
  }
  return text;
}

std::string BpeVocabulary::Serialize() const {
  std::string out = "muster bpe\n";
  AppendInteger(static_cast<uint32_t>(parts_.tokens.size()), &out);
  AppendInteger(static_cast<uint32_t>(parts_.merges.size()), &out);
  for (const int32_t token : parts_.bytes) AppendInteger(token, &out);
  for (const BpeMerge& merge : parts_.merges) {
    AppendInteger(merge.left, &out);
    AppendInteger(merge.right, &out);
    AppendInteger(merge.merged, &out);
  }
  for (const std::string& token : parts_.tokens) {
    AppendInteger(static_cast<uint32_t>(token.size()), &out);
  }
  for (const std::string& token : parts_.tokens) out += token;
  return out;
}

}  // namespace muster::models
