#ifndef MUSTER_MODELS_TEXT_BPE_FILES_H_
#define MUSTER_MODELS_TEXT_BPE_FILES_H_

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "models/text/bpe_vocabulary.h"

namespace muster {

// A byte-level BPE as GPT-2's was published and Hugging Face keeps it:
// `vocabulary_json`, tokens with their numbers, and `merges_text`, a line for
// each merge. Both spell bytes as GPT-2's printable characters
// (byte_characters.h). InvalidArgument: where and what. Up to 64 MiB each.
absl::StatusOr<std::unique_ptr<BpeVocabulary>> ParseBpe(
    std::string_view vocabulary_json, std::string_view merges_text);

// The same from files (vocab.json and merges.txt). NotFound: which cannot be
// read, and why.
absl::StatusOr<std::unique_ptr<BpeVocabulary>> ReadBpeFiles(
    const std::string& vocabulary_path, const std::string& merges_path);

}  // namespace muster

#endif  // MUSTER_MODELS_TEXT_BPE_FILES_H_
