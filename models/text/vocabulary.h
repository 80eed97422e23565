#ifndef MUSTER_MODELS_TEXT_VOCABULARY_H_
#define MUSTER_MODELS_TEXT_VOCABULARY_H_

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace muster::models {

// A long text as tokens, in memory or in a file. Thread-safe.
class Tokens {
 public:
  virtual ~Tokens() = default;

  virtual int64_t count() const = 0;
  // Reads tokens from index `begin` into all of `out`. OutOfRange: there are
  // not enough tokens. DataLoss: a token is not in the vocabulary; the message
  // gives its position.
  virtual absl::Status Read(int64_t begin, std::span<int32_t> out) const = 0;
};

// Tokens that are held in a vector.
class TokensInMemory : public Tokens {
 public:
  explicit TokensInMemory(std::vector<int32_t> tokens)
      : tokens_(std::move(tokens)) {}

  int64_t count() const override {
    return static_cast<int64_t>(tokens_.size());
  }
  absl::Status Read(int64_t begin, std::span<int32_t> out) const override;

 private:
  const std::vector<int32_t> tokens_;
};

// Converts texts to tokens, numbered from 0, and back. A text may contain any
// bytes; decoding returns exactly the encoded bytes.
//
// Immutable, so thread-safe.
class Vocabulary {
 public:
  virtual ~Vocabulary() = default;

  // The kind of the vocabulary: "characters" or "bpe".
  virtual const char* kind() const = 0;
  // The number of tokens.
  virtual int64_t size() const = 0;

  // Converts a text to tokens. InvalidArgument: a byte has no token; the
  // message gives the byte and its position.
  virtual absl::StatusOr<std::vector<int32_t>> Encode(
      std::string_view text) const = 0;
  // Converts tokens to text. Every token must be in [0, size()); otherwise the
  // process is aborted.
  virtual std::string Decode(std::span<const int32_t> tokens) const = 0;

  // Returns the complete vocabulary in the form that ParseVocabulary
  // (stored_vocabulary.h) reads. Equal vocabularies give equal bytes. Token
  // files and checkpoints contain these bytes, so that no other file is needed
  // to encode and decode text.
  virtual std::string Serialize() const = 0;

  // Returns a description for logs: "characters, 65 tokens (5d1b0c8a)". Equal
  // vocabularies have equal descriptions.
  std::string Describe() const;
};

// One token per distinct byte of a text, numbered in the order of the bytes, as
// in nanoGPT's character data.
class CharVocabulary : public Vocabulary {
 public:
  // Makes one token for each distinct byte of `text`.
  explicit CharVocabulary(std::string_view text);

  // The byte of each token, indexed by token.
  const std::string& bytes() const { return bytes_; }

  const char* kind() const override { return "characters"; }
  int64_t size() const override { return static_cast<int64_t>(bytes_.size()); }
  absl::StatusOr<std::vector<int32_t>> Encode(
      std::string_view text) const override;
  std::string Decode(std::span<const int32_t> tokens) const override;
  std::string Serialize() const override;

 private:
  std::string bytes_;
  // Indexed by byte: the token of the byte; -1: none.
  std::array<int32_t, 256> tokens_;
};

}  // namespace muster::models

#endif  // MUSTER_MODELS_TEXT_VOCABULARY_H_
