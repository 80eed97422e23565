#include "models/text/token_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/write_all.h"
#include "models/text/stored_vocabulary.h"
#include "models/text/text_pieces.h"

namespace muster::models {
namespace {

// Maximum size of a serialized vocabulary in bytes. No real vocabulary is that
// large, and offsets in the file cannot overflow below this limit.
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
    // Tokens are checked when they are read, not when the file is opened,
    // because the file may be larger than the memory.
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

namespace {

constexpr size_t kPortionBytes = size_t{1} << 20;

template <typename Stored>
std::vector<Stored> AsStored(std::span<const int32_t> tokens) {
  std::vector<Stored> stored(tokens.size());
  std::transform(tokens.begin(), tokens.end(), stored.begin(),
                 [](int32_t token) { return static_cast<Stored>(token); });
  return stored;
}

}  // namespace

TokenFileWriter::TokenFileWriter(const std::string& path,
                                 const Vocabulary& vocabulary)
    : path_(path), part_(path + ".part"), vocabulary_(vocabulary) {}

absl::StatusOr<std::unique_ptr<TokenFileWriter>> TokenFileWriter::Create(
    const std::string& path, const Vocabulary& vocabulary) {
  std::unique_ptr<TokenFileWriter> writer(
      new TokenFileWriter(path, vocabulary));
  if (absl::Status status = writer->Begin(); !status.ok()) return status;
  return writer;
}

TokenFileWriter::~TokenFileWriter() {
  if (file_.open()) unlink(part_.c_str());
}

absl::Status TokenFileWriter::Failed(const char* what) const {
  return absl::UnavailableError(
      absl::StrCat("cannot ", what, " '", part_, "': ", std::strerror(errno)));
}

absl::Status TokenFileWriter::WriteAll(const void* data, size_t bytes) {
  return muster::WriteAll(file_.get(), {static_cast<const char*>(data), bytes})
             ? absl::OkStatus()
             : Failed("write");
}

absl::Status TokenFileWriter::Begin() {
  // Another process may be writing PATH.part. Unlink the file instead of
  // truncating it: the other process continues with the unlinked file, and this
  // writer creates a new one.
  unlink(part_.c_str());
  file_ = OwnedFd(
      open(part_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (!file_.open()) return Failed("create");
  const std::string vocabulary = vocabulary_.Serialize();
  TokenFileHeader header;
  header.vocabulary_tokens = static_cast<uint64_t>(vocabulary_.size());
  header.token_bytes = StoredTokenBytes(header.vocabulary_tokens);
  header.vocabulary_bytes = vocabulary.size();
  std::string bytes(TokensOffset(vocabulary.size()), '\0');
  std::memcpy(bytes.data(), &header, sizeof(header));
  std::memcpy(bytes.data() + sizeof(header), vocabulary.data(),
              vocabulary.size());
  return WriteAll(bytes.data(), bytes.size());
}

absl::Status TokenFileWriter::Append(std::span<const int32_t> tokens) {
  MUSTER_CHECK(file_.open());
  for (const int32_t token : tokens) {
    MUSTER_CHECK(token >= 0 && token < vocabulary_.size()) << token;
  }
  count_ += static_cast<int64_t>(tokens.size());
  if (StoredTokenBytes(static_cast<uint64_t>(vocabulary_.size())) == 2) {
    const std::vector<uint16_t> stored = AsStored<uint16_t>(tokens);
    return WriteAll(stored.data(), stored.size() * sizeof(uint16_t));
  }
  const std::vector<uint32_t> stored = AsStored<uint32_t>(tokens);
  return WriteAll(stored.data(), stored.size() * sizeof(uint32_t));
}

absl::Status TokenFileWriter::Finish() {
  const auto count = static_cast<uint64_t>(count_);
  if (pwrite(file_.get(), &count, sizeof(count),
             offsetof(TokenFileHeader, count)) !=
      static_cast<ssize_t>(sizeof(count))) {
    return Failed("write");
  }
  if (fsync(file_.get()) != 0) return Failed("write");
  if (std::rename(part_.c_str(), path_.c_str()) != 0) return Failed("rename");
  file_.Close();
  return absl::OkStatus();
}

absl::StatusOr<int64_t> WriteTokenFile(
    const std::string& path, const Vocabulary& vocabulary,
    std::string_view text, const std::function<void(int64_t bytes)>& progress) {
  if (text.empty()) return absl::InvalidArgumentError("the text is empty");
  auto writer = TokenFileWriter::Create(path, vocabulary);
  if (!writer.ok()) return writer.status();
  size_t done = 0;
  while (done < text.size()) {
    const std::string_view rest = text.substr(done);
    size_t portion = 0;
    // If the text cannot be split within its next `most` bytes, try a longer
    // portion.
    for (size_t most = kPortionBytes; portion == 0; most *= 2) {
      portion = WholePieces(rest, most);
    }
    const auto tokens = vocabulary.Encode(rest.substr(0, portion));
    if (!tokens.ok()) {
      return absl::Status(
          tokens.status().code(),
          absl::StrCat("behind byte ", done, ": ", tokens.status().message()));
    }
    if (absl::Status status = (*writer)->Append(*tokens); !status.ok()) {
      return status;
    }
    done += portion;
    if (progress != nullptr) progress(static_cast<int64_t>(done));
  }
  if (absl::Status status = (*writer)->Finish(); !status.ok()) return status;
  return (*writer)->count();
}

}  // namespace muster::models
