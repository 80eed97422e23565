#ifndef MUSTER_MODELS_TEXT_BPE_FILES_H_
#define MUSTER_MODELS_TEXT_BPE_FILES_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "models/text/bpe_vocabulary.h"

namespace muster::models {

// GPT-2's vocabulary files spell each byte as a printable character: bytes that
// are printable in Latin-1 as themselves, the other 68 bytes as U+0100 and the
// following characters, in order. A space is "Ġ", a newline "Ċ".

// Returns the character, as UTF-8, by which GPT-2's vocabulary files write
// `byte`.
std::string CharacterOfByte(unsigned char byte);

// Returns the bytes that `characters` stand for (see CharacterOfByte); nullopt
// if a character stands for no byte or the text is not UTF-8.
std::optional<std::string> BytesOfCharacters(std::string_view characters);

// Parses a byte-level BPE in the published form of GPT-2, which Hugging Face
// uses: `vocabulary_json` maps tokens to numbers, and `merges_text` has one
// line per merge. Both spell bytes as CharacterOfByte does. At most 64 MiB
// each. InvalidArgument: the message gives the position and the problem.
absl::StatusOr<std::unique_ptr<BpeVocabulary>> ParseBpe(
    std::string_view vocabulary_json, std::string_view merges_text);

// Reads and parses the two files (vocab.json and merges.txt). NotFound: a file
// cannot be read; the message names the file and the reason.
absl::StatusOr<std::unique_ptr<BpeVocabulary>> ReadBpeFiles(
    const std::string& vocabulary_path, const std::string& merges_path);

}  // namespace muster::models

#endif  // MUSTER_MODELS_TEXT_BPE_FILES_H_
