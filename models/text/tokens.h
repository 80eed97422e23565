#ifndef MUSTER_MODELS_TEXT_TOKENS_H_
#define MUSTER_MODELS_TEXT_TOKENS_H_

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "absl/status/status.h"

namespace muster::models {

// A long text as tokens, in memory or in a file. Thread-safe.
class Tokens {
 public:
  virtual ~Tokens() = default;

  virtual int64_t count() const = 0;
  // Reads tokens from index `begin` into all of `out`. OutOfRange: there are
  // not enough tokens. DataLoss: a token is not in the vocabulary; gives its
  // position.
  virtual absl::Status Read(int64_t begin, std::span<int32_t> out) const = 0;
};

// Tokens in memory.
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

}  // namespace muster::models

#endif  // MUSTER_MODELS_TEXT_TOKENS_H_
