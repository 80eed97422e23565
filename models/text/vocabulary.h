#ifndef MUSTER_MODELS_TEXT_VOCABULARY_H_
#define MUSTER_MODELS_TEXT_VOCABULARY_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace muster {

// What a text is to a model: tokens, numbered from 0, and back. Any bytes are a
// text; what is encoded and decoded is the same byte for byte.
//
// Immutable, so thread-safe.
class Vocabulary {
 public:
  virtual ~Vocabulary() = default;

  // "characters", "bpe".
  virtual const char* kind() const = 0;
  // How many tokens there are.
  virtual int64_t size() const = 0;

  // InvalidArgument: what there is no token for, and where.
  virtual absl::StatusOr<std::vector<int32_t>> Encode(
      std::string_view text) const = 0;
  // Tokens are at least 0 and below size(); others end the process.
  virtual std::string Decode(std::span<const int32_t> tokens) const = 0;

  // All of it, as ParseVocabulary (stored_vocabulary.h) reads it: equal for
  // equal vocabularies. Goes with prepared tokens and with checkpoints, so that
  // whoever has those needs no other file to read and write text.
  virtual std::string Serialize() const = 0;

  // For logs, and equal where the vocabularies are:
  // "characters, 65 tokens (5d1b0c8a)".
  std::string Describe() const;
};

}  // namespace muster

#endif  // MUSTER_MODELS_TEXT_VOCABULARY_H_
