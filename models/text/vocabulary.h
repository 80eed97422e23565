#ifndef MUSTER_MODELS_TEXT_VOCABULARY_H_
#define MUSTER_MODELS_TEXT_VOCABULARY_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace muster::models {

// Converts texts to tokens, numbered from 0, and back. A text may contain any
// bytes; decoding returns exactly the encoded bytes.
//
// Immutable, so thread-safe.
class Vocabulary {
 public:
  virtual ~Vocabulary() = default;

  // "characters", "bpe".
  virtual const char* kind() const = 0;
  // The number of tokens.
  virtual int64_t size() const = 0;

  // InvalidArgument: names the byte without a token and its position.
  virtual absl::StatusOr<std::vector<int32_t>> Encode(
      std::string_view text) const = 0;
  // Tokens must be in [0, size()); others abort the process.
  virtual std::string Decode(std::span<const int32_t> tokens) const = 0;

  // The complete vocabulary in the form that ParseVocabulary
  // (stored_vocabulary.h) reads; equal for equal vocabularies. Stored in token
  // files and checkpoints, so that no other file is needed to read and write
  // text.
  virtual std::string Serialize() const = 0;

  // For logs; equal if the vocabularies are: "characters, 65 tokens
  // (5d1b0c8a)".
  std::string Describe() const;
};

}  // namespace muster::models

#endif  // MUSTER_MODELS_TEXT_VOCABULARY_H_
