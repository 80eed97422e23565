#ifndef MUSTER_MODELS_TEXT_TOKEN_FILE_HEADER_H_
#define MUSTER_MODELS_TEXT_TOKEN_FILE_HEADER_H_

#include <bit>
#include <cstdint>

namespace muster::models {

// The header of a token file. It is followed by the vocabulary
// (Vocabulary::Serialize), zeros up to a multiple of kTokenFileAlignment, and
// the tokens, with two bytes each if that is enough for the vocabulary, else
// four. Little-endian.
struct TokenFileHeader {
  static constexpr uint64_t kMagic = 0x4e4b4f545254534d;  // "MSTRTOKN"
  static constexpr uint32_t kVersion = 1;

  uint64_t magic = kMagic;
  uint32_t version = kVersion;
  uint32_t token_bytes = 0;
  uint64_t vocabulary_tokens = 0;
  uint64_t vocabulary_bytes = 0;
  // Number of tokens. Written last, so it is 0 in an incomplete file.
  uint64_t count = 0;
};

static_assert(std::endian::native == std::endian::little);
static_assert(sizeof(TokenFileHeader) == 40);

inline constexpr uint64_t kTokenFileAlignment = 64;

// Offset of the tokens, after a vocabulary of `vocabulary_bytes` bytes.
constexpr uint64_t TokensOffset(uint64_t vocabulary_bytes) {
  return (sizeof(TokenFileHeader) + vocabulary_bytes + kTokenFileAlignment -
          1) /
         kTokenFileAlignment * kTokenFileAlignment;
}

// Bytes per token in the file.
constexpr uint32_t StoredTokenBytes(uint64_t vocabulary_tokens) {
  return vocabulary_tokens <= (1 << 16) ? 2 : 4;
}

}  // namespace muster::models

#endif  // MUSTER_MODELS_TEXT_TOKEN_FILE_HEADER_H_
