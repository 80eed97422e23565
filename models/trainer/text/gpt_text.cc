#include "models/trainer/text/gpt_text.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "models/text/bpe_files.h"
#include "models/text/char_vocabulary.h"
#include "models/text/token_file.h"
#include "models/text/token_file_writer.h"

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
    // The vocabulary shares ownership of its file.
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

}  // namespace muster::models
