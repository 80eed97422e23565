#ifndef MUSTER_MODELS_TEXT_TOKEN_FILE_WRITER_H_
#define MUSTER_MODELS_TEXT_TOKEN_FILE_WRITER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/owned_fd.h"
#include "models/text/vocabulary.h"

namespace muster {

// Writes a token file piece by piece. Until Finish it is at PATH.part, and what
// was at PATH stays as it is.
class TokenFileWriter {
 public:
  // `vocabulary` must outlive it. Unavailable: it cannot be written, and why.
  static absl::StatusOr<std::unique_ptr<TokenFileWriter>> Create(
      const std::string& path, const Vocabulary& vocabulary);

  // Not finished: removes what was written.
  ~TokenFileWriter();
  TokenFileWriter(const TokenFileWriter&) = delete;
  TokenFileWriter& operator=(const TokenFileWriter&) = delete;

  // Tokens are of the vocabulary. Unavailable: as Create.
  absl::Status Append(std::span<const int32_t> tokens);
  // Puts the file, whole and on the disk, at its place.
  absl::Status Finish();

  int64_t count() const { return count_; }

 private:
  TokenFileWriter(const std::string& path, const Vocabulary& vocabulary);

  absl::Status Failed(const char* what) const;
  absl::Status WriteAll(const void* data, size_t bytes);
  absl::Status Begin();

  const std::string path_;
  const std::string part_;
  const Vocabulary& vocabulary_;
  OwnedFd file_;
  int64_t count_ = 0;
};

// Encodes `text` into a token file at `path`, about a MiB at a time, so that no
// more of it than that is in memory as tokens. `progress`, if not null, is told
// now and then how many of the text's bytes are done. Errors are Encode's, with
// the place in the whole text, and the writer's. The number of tokens.
absl::StatusOr<int64_t> WriteTokenFile(
    const std::string& path, const Vocabulary& vocabulary,
    std::string_view text,
    const std::function<void(int64_t bytes)>& progress = nullptr);

}  // namespace muster

#endif  // MUSTER_MODELS_TEXT_TOKEN_FILE_WRITER_H_
