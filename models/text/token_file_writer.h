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

namespace muster::models {

// Writes a token file in pieces. Until Finish the data is in PATH.part, and an
// existing file at PATH is unchanged.
class TokenFileWriter {
 public:
  // `vocabulary` must outlive it. Unavailable: the file cannot be written;
  // gives the reason.
  static absl::StatusOr<std::unique_ptr<TokenFileWriter>> Create(
      const std::string& path, const Vocabulary& vocabulary);

  // Removes the file if Finish was not called.
  ~TokenFileWriter();
  TokenFileWriter(const TokenFileWriter&) = delete;
  TokenFileWriter& operator=(const TokenFileWriter&) = delete;

  // The tokens must be of the vocabulary. Unavailable: as for Create.
  absl::Status Append(std::span<const int32_t> tokens);
  // Syncs the file to the disk and renames it to its final name.
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

// Encodes `text` into a token file at `path`, about one MiB at a time, so that
// only that much is in memory as tokens. `progress`, if not null, is called
// occasionally with the number of bytes done. Returns the number of tokens.
// Errors are those of Encode, with the position in the whole text, and of the
// writer.
absl::StatusOr<int64_t> WriteTokenFile(
    const std::string& path, const Vocabulary& vocabulary,
    std::string_view text,
    const std::function<void(int64_t bytes)>& progress = nullptr);

}  // namespace muster::models

#endif  // MUSTER_MODELS_TEXT_TOKEN_FILE_WRITER_H_
