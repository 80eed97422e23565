#include "models/text/testing/small_bpe.h"

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "models/text/bpe_files.h"

namespace muster::models {

std::string SmallVocabularyJson() {
  std::string json = "{\n";
  for (int byte = 0; byte < 256; ++byte) {
    std::string character = CharacterOfByte(static_cast<unsigned char>(byte));
    if (character == "\"" || character == "\\") character.insert(0, "\\");
    absl::StrAppend(&json, "\"", character, "\": ", byte, ",\n");
  }
  return json +
         "\"he\": 256,\n\"ll\": 257,\n\"hell\": 258,\n\"hello\": 259,\n"
         "\"Ġw\": 260,\n\"Ġwo\": 261,\n\"<|endoftext|>\": 262}\n";
}

std::string SmallMergesText() {
  return "#version: 0.2\nh e\nl l\nhe ll\nhell o\nĠ w\nĠw o\n";
}

std::unique_ptr<BpeVocabulary> SmallBpe() {
  auto vocabulary = ParseBpe(SmallVocabularyJson(), SmallMergesText());
  MUSTER_CHECK(vocabulary.ok()) << vocabulary.status();
  return *std::move(vocabulary);
}

BpeVocabulary::Parts SmallBpeParts() {
  BpeVocabulary::Parts parts;
  for (int byte = 0; byte < 256; ++byte) {
    parts.tokens.emplace_back(1, static_cast<char>(byte));
    parts.bytes[static_cast<size_t>(byte)] = byte;
  }
  for (const char* token :
       {"he", "ll", "hell", "hello", " w", " wo", "<|endoftext|>"}) {
    parts.tokens.emplace_back(token);
  }
  parts.merges = {{'h', 'e', 256}, {'l', 'l', 257}, {256, 257, 258},
                  {258, 'o', 259}, {' ', 'w', 260}, {260, 'o', 261}};
  return parts;
}

}  // namespace muster::models
