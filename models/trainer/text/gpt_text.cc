#include "models/trainer/text/gpt_text.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/checksum.h"
#include "models/text/bpe_files.h"
#include "models/text/token_file.h"
#include "models/text/vocabulary.h"

namespace muster::models {
namespace {

absl::StatusOr<std::string> ReadText(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return absl::NotFoundError(absl::StrCat("cannot read the text '", path,
                                            "': ", std::strerror(errno)));
  }
  std::string text{std::istreambuf_iterator<char>(file),
                   std::istreambuf_iterator<char>()};
  if (text.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the text '", path, "' is empty"));
  }
  return text;
}

absl::StatusOr<std::shared_ptr<const Vocabulary>> VocabularyOf(
    const GptTextFiles& files, std::string_view text) {
  if (files.vocabulary.empty() != files.merges.empty()) {
    return absl::InvalidArgumentError(
        "--vocab and --merges belong together: GPT-2's vocab.json and "
        "merges.txt");
  }
  if (files.vocabulary.empty()) {
    return std::make_shared<const CharVocabulary>(text);
  }
  auto bpe = ReadBpeFiles(files.vocabulary, files.merges);
  if (!bpe.ok()) return bpe.status();
  return std::shared_ptr<const Vocabulary>(*std::move(bpe));
}

}  // namespace

absl::StatusOr<GptText> LoadText(const GptTextFiles& files) {
  if (TokenFile::Is(files.data)) {
    if (!files.vocabulary.empty() || !files.merges.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("'", files.data, "' has been prepared and has its own ",
                       "vocabulary: leave --vocab and --merges out"));
    }
    auto opened = TokenFile::Open(files.data);
    if (!opened.ok()) return opened.status();
    const std::shared_ptr<const TokenFile> file = *std::move(opened);
    // The vocabulary is a member of the opened file. So the pointer to the
    // vocabulary shares the ownership of the file.
    return GptText{{file, &file->vocabulary()}, file};
  }
  const absl::StatusOr<std::string> text = ReadText(files.data);
  if (!text.ok()) return text.status();
  auto vocabulary = VocabularyOf(files, *text);
  if (!vocabulary.ok()) return vocabulary.status();
  auto tokens = (*vocabulary)->Encode(*text);
  if (!tokens.ok()) return tokens.status();
  return GptText{*vocabulary,
                 std::make_shared<TokensInMemory>(*std::move(tokens))};
}

absl::StatusOr<int64_t> PrepareText(const GptTextFiles& files,
                                    const std::string& path) {
  if (TokenFile::Is(files.data)) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", files.data, "' has been prepared already"));
  }
  const absl::StatusOr<std::string> text = ReadText(files.data);
  if (!text.ok()) return text.status();
  const auto vocabulary = VocabularyOf(files, *text);
  if (!vocabulary.ok()) return vocabulary.status();
  return WriteTokenFile(path, **vocabulary, *text);
}

namespace {

constexpr int64_t kWindow = 16 << 10;
constexpr int64_t kWindows = 256;

}  // namespace

absl::StatusOr<std::string> TextFingerprint(const GptText& text) {
  const Tokens& tokens = *text.tokens;
  const int64_t count = tokens.count();
  // The number of hashed windows: enough to cover the text without gaps, but at
  // most kWindows.
  const int64_t windows = std::min(kWindows, (count + kWindow - 1) / kWindow);
  const int64_t last = std::max(int64_t{0}, count - kWindow);
  Checksum checksum;
  checksum.Add(text.vocabulary->Serialize());
  std::vector<int32_t> window(static_cast<size_t>(std::min(kWindow, count)));
  for (int64_t i = 0; i < windows; ++i) {
    // The first window that is added to the checksum begins at the start of the
    // text, and the last one ends at the end of the text. Windows that cover
    // the whole text may overlap.
    const int64_t begin = windows == 1 ? 0 : last * i / (windows - 1);
    if (absl::Status status = tokens.Read(begin, window); !status.ok()) {
      return status;
    }
    checksum.Add({reinterpret_cast<const char*>(window.data()),
                  window.size() * sizeof(window[0])});
  }
  return absl::StrCat(count, " tokens (", ChecksumText(checksum.value()), ")");
}

absl::StatusOr<std::shared_ptr<const Tokens>> TokensInVocabulary(
    const GptText& text, const Vocabulary& vocabulary) {
  if (text.vocabulary->Serialize() == vocabulary.Serialize()) {
    return text.tokens;
  }
  std::vector<int32_t> tokens(static_cast<size_t>(text.tokens->count()));
  if (absl::Status status = text.tokens->Read(0, tokens); !status.ok()) {
    return status;
  }
  auto encoded = vocabulary.Encode(text.vocabulary->Decode(tokens));
  if (!encoded.ok()) return encoded.status();
  return std::make_shared<const TokensInMemory>(*std::move(encoded));
}

}  // namespace muster::models
