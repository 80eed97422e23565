#ifndef MUSTER_MODELS_TEXT_TOKEN_FILE_H_
#define MUSTER_MODELS_TEXT_TOKEN_FILE_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "models/text/mapped_file.h"
#include "models/text/tokens.h"
#include "models/text/vocabulary.h"

namespace muster::models {

// A tokenised text (token_file_writer.h), mapped into memory: opening it takes
// no time, however long it is, and the ranks of a host share its pages. If the
// file is truncated while it is mapped, an access kills the process; so writers
// replace files instead.
class TokenFile : public Tokens {
 public:
  // NotFound: the file cannot be read; gives the reason. InvalidArgument: it is
  // no token file or is incomplete.
  static absl::StatusOr<std::unique_ptr<TokenFile>> Open(
      const std::string& path);

  // Whether the file at `path` has the magic number of a token file;
  // distinguishes it from a text. False if it cannot be read.
  static bool Is(const std::string& path);

  // The vocabulary of the tokens.
  const Vocabulary& vocabulary() const { return *vocabulary_; }

  int64_t count() const override { return count_; }
  absl::Status Read(int64_t begin, std::span<int32_t> out) const override;

 private:
  TokenFile(std::string path, MappedFile file);

  // Finds the parts of the mapped file.
  absl::Status Parse();
  template <typename Stored>
  absl::Status Copy(int64_t begin, std::span<int32_t> out) const;

  const std::string path_;
  const MappedFile file_;
  std::unique_ptr<Vocabulary> vocabulary_;
  int64_t count_ = 0;
  int token_bytes_ = 0;
  const char* tokens_ = nullptr;
};

}  // namespace muster::models

#endif  // MUSTER_MODELS_TEXT_TOKEN_FILE_H_
