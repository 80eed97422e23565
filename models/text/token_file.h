#ifndef MUSTER_MODELS_TEXT_TOKEN_FILE_H_
#define MUSTER_MODELS_TEXT_TOKEN_FILE_H_

#include <bit>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/owned_fd.h"
#include "models/text/mapped_file.h"
#include "models/text/vocabulary.h"

namespace muster::models {

// The header of a token file. The header is followed by the vocabulary
// (Vocabulary::Serialize), zeros up to a multiple of kTokenFileAlignment, and
// the tokens: two bytes each if the vocabulary has at most 65536 tokens,
// otherwise four. All numbers are little-endian.
struct TokenFileHeader {
  // The first bytes of a token file, "MSTRTOKN", as a little-endian number.
  static constexpr uint64_t kMagic = 0x4e4b4f545254534d;
  static constexpr uint32_t kVersion = 1;

  uint64_t magic = kMagic;
  uint32_t version = kVersion;
  uint32_t token_bytes = 0;
  uint64_t vocabulary_tokens = 0;
  uint64_t vocabulary_bytes = 0;
  // Number of tokens. Written last, so the number is 0 in an incomplete file.
  uint64_t count = 0;
};

static_assert(std::endian::native == std::endian::little);
static_assert(sizeof(TokenFileHeader) == 40);

inline constexpr uint64_t kTokenFileAlignment = 64;

// Returns the offset in bytes at which the tokens begin in a token file whose
// vocabulary has `vocabulary_bytes` bytes.
constexpr uint64_t TokensOffset(uint64_t vocabulary_bytes) {
  return (sizeof(TokenFileHeader) + vocabulary_bytes + kTokenFileAlignment -
          1) /
         kTokenFileAlignment * kTokenFileAlignment;
}

// Returns the number of bytes per token in the file of a vocabulary with
// `vocabulary_tokens` tokens.
constexpr uint32_t StoredTokenBytes(uint64_t vocabulary_tokens) {
  return vocabulary_tokens <= (1 << 16) ? 2 : 4;
}

// A tokenised text, written by WriteTokenFile and mapped into memory. The time
// to open the file does not depend on the file's size, and the ranks of a host
// share the file's pages. If the file is truncated while it is mapped, an
// access kills the process; therefore writers replace files instead of changing
// them.
class TokenFile : public Tokens {
 public:
  // Opens a token file. NotFound: the file cannot be read; the message gives
  // the reason. InvalidArgument: the file is not a token file or is incomplete.
  static absl::StatusOr<std::unique_ptr<TokenFile>> Open(
      const std::string& path);

  // Whether the file at `path` begins with the magic number of a token file. It
  // is the ASCII text "MSTRTOKN", with which an ordinary text is unlikely to
  // begin. False if the file cannot be read.
  static bool Is(const std::string& path);

  // The vocabulary of the tokens.
  const Vocabulary& vocabulary() const { return *vocabulary_; }

  int64_t count() const override { return count_; }
  absl::Status Read(int64_t begin, std::span<int32_t> out) const override;

 private:
  TokenFile(std::string path, MappedFile file);

  // Parses the header, and finds the vocabulary and the tokens in the mapped
  // file.
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

// Writes a token file in pieces. Until Finish, the data is in PATH.part and an
// existing file at PATH is unchanged.
class TokenFileWriter {
 public:
  // `vocabulary` must outlive the writer. Unavailable: the file cannot be
  // written; the message gives the reason.
  static absl::StatusOr<std::unique_ptr<TokenFileWriter>> Create(
      const std::string& path, const Vocabulary& vocabulary);

  // Removes PATH.part if Finish was not called.
  ~TokenFileWriter();
  TokenFileWriter(const TokenFileWriter&) = delete;
  TokenFileWriter& operator=(const TokenFileWriter&) = delete;

  // Appends tokens of the vocabulary. Unavailable: the file cannot be written.
  absl::Status Append(std::span<const int32_t> tokens);
  // Syncs PATH.part to the disk and renames it to PATH.
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

// Encodes `text` into a token file at `path`, about one MiB of text at a time,
// so that the tokens of the whole text are never in memory. `progress`, if not
// null, is called occasionally with the number of bytes done. Returns the
// number of tokens. Errors are those of Encode, with the position in the whole
// text, and of the writer.
absl::StatusOr<int64_t> WriteTokenFile(
    const std::string& path, const Vocabulary& vocabulary,
    std::string_view text,
    const std::function<void(int64_t bytes)>& progress = nullptr);

}  // namespace muster::models

#endif  // MUSTER_MODELS_TEXT_TOKEN_FILE_H_
