#include "models/text/token_file.h"

#include <cstddef>
#include <cstring>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "models/text/stored_vocabulary.h"
#include "models/text/token_file_header.h"

namespace muster::models {
namespace {

// Larger than any serialized vocabulary, so that offsets cannot overflow.
constexpr uint64_t kMaxVocabularyBytes = uint64_t{1} << 40;

absl::StatusOr<TokenFileHeader> ParseHeader(std::string_view bytes) {
  TokenFileHeader header;
  if (bytes.size() >= sizeof(header)) {
    std::memcpy(&header, bytes.data(), sizeof(header));
  } else {
    header.magic = 0;
  }
  if (header.magic != TokenFileHeader::kMagic) {
    return absl::InvalidArgumentError("this is no token file");
  }
  if (header.version != TokenFileHeader::kVersion) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a token file of version ", header.version, "; only version ",
        TokenFileHeader::kVersion, " is known: prepare it again"));
  }
  if (header.token_bytes != StoredTokenBytes(header.vocabulary_tokens) ||
      header.vocabulary_bytes > kMaxVocabularyBytes) {
    return absl::InvalidArgumentError("its header is damaged");
  }
  return header;
}

}  // namespace

TokenFile::TokenFile(std::string path, MappedFile file)
    : path_(std::move(path)), file_(std::move(file)) {}

absl::StatusOr<std::unique_ptr<TokenFile>> TokenFile::Open(
    const std::string& path) {
  absl::StatusOr<MappedFile> mapped = MappedFile::Open(path);
  if (!mapped.ok()) return mapped.status();
  std::unique_ptr<TokenFile> file(new TokenFile(path, *std::move(mapped)));
  if (absl::Status wrong = file->Parse(); !wrong.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", path, "': ", wrong.message()));
  }
  return file;
}

bool TokenFile::Is(const std::string& path) {
  const absl::StatusOr<MappedFile> file = MappedFile::Open(path);
  uint64_t magic = 0;
  if (!file.ok() || file->bytes().size() < sizeof(magic)) return false;
  std::memcpy(&magic, file->bytes().data(), sizeof(magic));
  return magic == TokenFileHeader::kMagic;
}

absl::Status TokenFile::Parse() {
  const std::string_view bytes = file_.bytes();
  const absl::StatusOr<TokenFileHeader> header = ParseHeader(bytes);
  if (!header.ok()) return header.status();
  const uint64_t offset = TokensOffset(header->vocabulary_bytes);
  if (bytes.size() < offset || header->count == 0 ||
      (bytes.size() - offset) / header->token_bytes != header->count ||
      (bytes.size() - offset) % header->token_bytes != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        bytes.size(), " bytes are not what its header says: ", header->count,
        " tokens of ", header->token_bytes, " bytes behind a vocabulary of ",
        header->vocabulary_bytes));
  }
  auto vocabulary = ParseVocabulary(
      bytes.substr(sizeof(TokenFileHeader), header->vocabulary_bytes));
  if (!vocabulary.ok()) return vocabulary.status();
  if (static_cast<uint64_t>((*vocabulary)->size()) !=
      header->vocabulary_tokens) {
    return absl::InvalidArgumentError(
        absl::StrCat("a vocabulary of ", (*vocabulary)->size(), " tokens, and ",
                     header->vocabulary_tokens, " in the header"));
  }
  vocabulary_ = *std::move(vocabulary);
  token_bytes_ = static_cast<int>(header->token_bytes);
  count_ = static_cast<int64_t>(header->count);
  tokens_ = bytes.data() + offset;
  return absl::OkStatus();
}

absl::Status TokenFile::Read(int64_t begin, std::span<int32_t> out) const {
  const auto wanted = static_cast<int64_t>(out.size());
  if (begin < 0 || wanted > count_ || begin > count_ - wanted) {
    return absl::OutOfRangeError(absl::StrCat(
        "'", path_, "': ", wanted, " tokens from ", begin, " on, of ", count_));
  }
  return token_bytes_ == 2 ? Copy<uint16_t>(begin, out)
                           : Copy<uint32_t>(begin, out);
}

template <typename Stored>
absl::Status TokenFile::Copy(int64_t begin, std::span<int32_t> out) const {
  const auto vocabulary = static_cast<uint32_t>(vocabulary_->size());
  const char* const first =
      tokens_ + begin * static_cast<int64_t>(sizeof(Stored));
  for (size_t i = 0; i < out.size(); ++i) {
    Stored token;
    std::memcpy(&token, first + i * sizeof(Stored), sizeof(Stored));
    // Checked when they are read, because the file may be larger than the
    // memory.
    if (token >= vocabulary) {
      return absl::DataLossError(absl::StrCat(
          "'", path_, "' is damaged: token ", begin + static_cast<int64_t>(i),
          " is ", static_cast<uint32_t>(token), " in a vocabulary of ",
          vocabulary));
    }
    out[i] = static_cast<int32_t>(token);
  }
  return absl::OkStatus();
}

}  // namespace muster::models
