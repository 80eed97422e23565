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

}  // namespace muster::models
