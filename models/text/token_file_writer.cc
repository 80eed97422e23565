#include "models/text/token_file_writer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/write_all.h"
#include "models/text/text_pieces.h"
#include "models/text/token_file_header.h"

namespace muster::models {
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
  // After the unlink, another writer of the same name has a file of its own.
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
    // Longer if the text cannot be split there.
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
