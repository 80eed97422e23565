#include "models/text/bpe_files.h"

#include <utf8proc.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "models/text/mapped_file.h"

namespace muster::models {
namespace {

constexpr int kFirstStandIn = 0x100;

constexpr bool StandsForItself(int byte) {
  return (byte >= '!' && byte <= '~') || (byte >= 0xa1 && byte <= 0xac) ||
         byte >= 0xae;
}

constexpr std::array<int, 256> MakeCharacters() {
  std::array<int, 256> characters = {};
  int stand_in = kFirstStandIn;
  for (int byte = 0; byte < 256; ++byte) {
    characters[byte] = StandsForItself(byte) ? byte : stand_in++;
  }
  return characters;
}

constexpr std::array<int, 256> kCharacters = MakeCharacters();
// GPT-2 spells 68 of the byte values by substitute characters, which begin at
// kFirstStandIn. kEnd is the first character after the substitutes.
constexpr int kEnd = kFirstStandIn + 68;

constexpr std::array<int, kEnd> MakeBytes() {
  std::array<int, kEnd> bytes = {};
  for (int& byte : bytes) byte = -1;
  for (int byte = 0; byte < 256; ++byte) bytes[kCharacters[byte]] = byte;
  return bytes;
}

constexpr std::array<int, kEnd> kBytes = MakeBytes();

}  // namespace

std::string CharacterOfByte(unsigned char byte) {
  utf8proc_uint8_t utf8[4];
  const utf8proc_ssize_t length = utf8proc_encode_char(kCharacters[byte], utf8);
  return std::string(reinterpret_cast<const char*>(utf8),
                     static_cast<size_t>(length));
}

std::optional<std::string> BytesOfCharacters(std::string_view characters) {
  std::string bytes;
  while (!characters.empty()) {
    utf8proc_int32_t character;
    const utf8proc_ssize_t length = utf8proc_iterate(
        reinterpret_cast<const utf8proc_uint8_t*>(characters.data()),
        static_cast<utf8proc_ssize_t>(characters.size()), &character);
    if (length <= 0 || character >= kEnd || kBytes[character] < 0) {
      return std::nullopt;
    }
    bytes.push_back(static_cast<char>(kBytes[character]));
    characters.remove_prefix(static_cast<size_t>(length));
  }
  return bytes;
}

namespace {

constexpr size_t kMaxBytes = size_t{64} << 20;

// Key: a token's spelling in the file; value: the token's number.
using TokenNumbers = std::unordered_map<std::string, int32_t>;

// Parses {"token": number, ...} and nothing else, without building a tree.
class TokenReader : public nlohmann::json_sax<nlohmann::json> {
 public:
  bool null() override { return Refuse("is null"); }
  bool boolean(bool) override { return Refuse("is a truth value"); }
  bool number_integer(number_integer_t value) override {
    return Refuse(absl::StrCat("has the number ", value));
  }
  bool number_unsigned(number_unsigned_t value) override {
    if (depth_ != 1) return Refuse("is a number");
    if (value >= static_cast<uint64_t>(BpeVocabulary::kMaxTokens)) {
      return Refuse(absl::StrCat("has the number ", value, "; below ",
                                 BpeVocabulary::kMaxTokens, " are possible"));
    }
    if (!numbers_.emplace(key_, static_cast<int32_t>(value)).second) {
      return Refuse("is there twice");
    }
    return true;
  }
  bool number_float(number_float_t, const string_t& text) override {
    return Refuse(absl::StrCat("has the number ", text));
  }
  bool string(string_t&) override { return Refuse("is a string"); }
  bool binary(binary_t&) override { return Refuse("is binary"); }
  bool start_object(size_t) override {
    return depth_++ == 0 || Refuse("is an object");
  }
  bool end_object() override { return true; }
  bool start_array(size_t) override { return Refuse("is an array"); }
  bool end_array() override { return true; }
  bool key(string_t& key) override {
    key_ = std::move(key);
    return true;
  }
  bool parse_error(size_t, const std::string&,
                   const nlohmann::json::exception& error) override {
    // Skip the prefix "[json.exception.parse_error.101] " of the JSON library's
    // message.
    const std::string what = error.what();
    const size_t begin = what.find("] ");
    error_ = begin == std::string::npos ? what : what.substr(begin + 2);
    return false;
  }

  const std::string& error() const { return error_; }
  TokenNumbers& numbers() { return numbers_; }

 private:
  bool Refuse(const std::string& what) {
    error_ = depth_ == 0
                 ? absl::StrCat("the file ", what, " and no object of tokens")
                 : absl::StrCat("token '", key_.substr(0, 100), "' ", what,
                                "; wanted is its number");
    return false;
  }

  TokenNumbers numbers_;
  int depth_ = 0;
  std::string key_;
  std::string error_;
};

absl::Status TooLong(size_t bytes) {
  return absl::InvalidArgumentError(
      absl::StrCat(bytes, " bytes; at most ", kMaxBytes, " are read"));
}

absl::StatusOr<TokenNumbers> ParseTokens(std::string_view json) {
  if (json.size() > kMaxBytes) return TooLong(json.size());
  TokenReader reader;
  if (!nlohmann::json::sax_parse(json.begin(), json.end(), &reader)) {
    return absl::InvalidArgumentError(reader.error());
  }
  return std::move(reader.numbers());
}

// Returns the tokens' texts, indexed by token number. InvalidArgument: a number
// below the count of tokens belongs to no token.
absl::StatusOr<std::vector<std::string>> TextsOf(const TokenNumbers& numbers) {
  std::vector<std::string> texts(numbers.size());
  for (const auto& [characters, number] : numbers) {
    const auto place = static_cast<size_t>(number);
    if (place < texts.size() && texts[place].empty() && !characters.empty()) {
      // A special token may contain characters that stand for no byte. In that
      // case the token's text is the token as the file spells it.
      texts[place] = BytesOfCharacters(characters).value_or(characters);
    }
  }
  for (size_t i = 0; i < texts.size(); ++i) {
    if (texts[i].empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("of ", texts.size(), " tokens none has the number ", i));
    }
  }
  return texts;
}

absl::StatusOr<std::array<int32_t, 256>> BytesOf(const TokenNumbers& numbers) {
  std::array<int32_t, 256> bytes;
  for (int byte = 0; byte < 256; ++byte) {
    const std::string character =
        CharacterOfByte(static_cast<unsigned char>(byte));
    const auto found = numbers.find(character);
    if (found == numbers.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat("no token '", character, "', which stands for byte ",
                       byte, ": is this a byte-level vocabulary?"));
    }
    bytes[static_cast<size_t>(byte)] = found->second;
  }
  return bytes;
}

// Parses one line: two tokens separated by a space.
absl::StatusOr<BpeMerge> ParseMerge(std::string_view line,
                                    const TokenNumbers& numbers) {
  const size_t space = line.find(' ');
  if (space == std::string_view::npos || space == 0 ||
      space + 1 == line.size() ||
      line.find(' ', space + 1) != std::string_view::npos) {
    return absl::InvalidArgumentError(
        "wanted are two tokens with one space between them");
  }
  const std::string left(line.substr(0, space));
  const std::string right(line.substr(space + 1));
  BpeMerge merge;
  for (const auto& [token, number] :
       {std::pair(left, &merge.left), std::pair(right, &merge.right),
        std::pair(left + right, &merge.merged)}) {
    const auto found = numbers.find(token);
    if (found == numbers.end()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "'", token.substr(0, 100), "' is not in the vocabulary"));
    }
    *number = found->second;
  }
  return merge;
}

absl::StatusOr<std::vector<BpeMerge>> ParseMerges(std::string_view text,
                                                  const TokenNumbers& numbers) {
  if (text.size() > kMaxBytes) return TooLong(text.size());
  std::vector<BpeMerge> merges;
  std::map<std::pair<int32_t, int32_t>, size_t> lines;
  for (size_t number = 1; !text.empty(); ++number) {
    const size_t length = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, length);
    text.remove_prefix(std::min(length + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    // Skips the line "#version: 0.2". On other lines '#' may be part of a
    // merge.
    if (number == 1 && line.starts_with("#version")) continue;
    if (line.empty() && text.empty()) break;
    const auto wrong = [&](const std::string& what) {
      return absl::InvalidArgumentError(
          absl::StrCat("line ", number, ": ", what));
    };
    const absl::StatusOr<BpeMerge> merge = ParseMerge(line, numbers);
    if (!merge.ok()) return wrong(std::string(merge.status().message()));
    const auto [earlier, is_new] =
        lines.emplace(std::pair(merge->left, merge->right), number);
    if (!is_new) {
      return wrong(absl::StrCat("the same as line ", earlier->second));
    }
    merges.push_back(*merge);
  }
  return merges;
}

// Parses the two files of a vocabulary: its tokens (`vocabulary_json`) and its
// merges. `vocabulary` and `merges` are the names of these texts in error
// messages.
absl::StatusOr<std::unique_ptr<BpeVocabulary>> Parse(
    std::string_view vocabulary_json, std::string_view merges_text,
    const std::string& vocabulary, const std::string& merges) {
  const auto in = [](const std::string& name, const absl::Status& status) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, ": ", status.message()));
  };
  const absl::StatusOr<TokenNumbers> numbers = ParseTokens(vocabulary_json);
  if (!numbers.ok()) return in(vocabulary, numbers.status());
  auto texts = TextsOf(*numbers);
  if (!texts.ok()) return in(vocabulary, texts.status());
  const auto bytes = BytesOf(*numbers);
  if (!bytes.ok()) return in(vocabulary, bytes.status());
  auto list = ParseMerges(merges_text, *numbers);
  if (!list.ok()) return in(merges, list.status());
  auto made =
      BpeVocabulary::Create({*std::move(texts), *bytes, *std::move(list)});
  if (!made.ok()) return in(merges, made.status());
  return made;
}

}  // namespace

absl::StatusOr<std::unique_ptr<BpeVocabulary>> ParseBpe(
    std::string_view vocabulary_json, std::string_view merges_text) {
  return Parse(vocabulary_json, merges_text, "vocabulary", "merges");
}

absl::StatusOr<std::unique_ptr<BpeVocabulary>> ReadBpeFiles(
    const std::string& vocabulary_path, const std::string& merges_path) {
  const absl::StatusOr<MappedFile> vocabulary =
      MappedFile::Open(vocabulary_path);
  if (!vocabulary.ok()) return vocabulary.status();
  const absl::StatusOr<MappedFile> merges = MappedFile::Open(merges_path);
  if (!merges.ok()) return merges.status();
  return Parse(vocabulary->bytes(), merges->bytes(), vocabulary_path,
               merges_path);
}

}  // namespace muster::models
