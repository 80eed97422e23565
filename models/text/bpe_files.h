#ifndef MUSTER_MODELS_TEXT_BPE_FILES_H_
#define MUSTER_MODELS_TEXT_BPE_FILES_H_

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "models/text/bpe_vocabulary.h"

namespace muster::models {

// Parses a byte-level BPE in the published form of GPT-2, which Hugging Face
// uses: `vocabulary_json` maps tokens to numbers, and `merges_text` has one
// line per merge. Both spell bytes as GPT-2's printable characters
// (byte_characters.h). At most 64 MiB each. InvalidArgument: gives the place
// and the problem.
absl::StatusOr<std::unique_ptr<BpeVocabulary>> ParseBpe(
    std::string_view vocabulary_json, std::string_view merges_text);

// The same from files (vocab.json and merges.txt). NotFound: names the file
// that cannot be read and gives the reason.
absl::StatusOr<std::unique_ptr<BpeVocabulary>> ReadBpeFiles(
    const std::string& vocabulary_path, const std::string& merges_path);

}  // namespace muster::models

#endif  // MUSTER_MODELS_TEXT_BPE_FILES_H_
