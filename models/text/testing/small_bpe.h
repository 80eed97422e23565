#ifndef MUSTER_MODELS_TEXT_TESTING_SMALL_BPE_H_
#define MUSTER_MODELS_TEXT_TESTING_SMALL_BPE_H_

#include <memory>
#include <string>

#include "models/text/bpe_vocabulary.h"

namespace muster::models {

// The texts of vocab.json and merges.txt for a vocabulary of 263 tokens: the
// bytes b as token b; "he" 256, "ll" 257, "hell" 258, "hello" 259, " w" 260, "
// wo" 261; and a special token, "<|endoftext|>", 262.
std::string SmallVocabularyJson();
std::string SmallMergesText();

// The small vocabulary as an object.
std::unique_ptr<BpeVocabulary> SmallBpe();

}  // namespace muster::models

#endif  // MUSTER_MODELS_TEXT_TESTING_SMALL_BPE_H_
