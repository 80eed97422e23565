#ifndef MUSTER_MODELS_TEXT_TESTING_SMALL_BPE_H_
#define MUSTER_MODELS_TEXT_TESTING_SMALL_BPE_H_

#include <memory>
#include <string>

#include "models/text/bpe_vocabulary.h"

namespace muster::models {

// The texts of vocab.json and merges.txt for a vocabulary of 263 tokens: each
// byte b is token b; "he" is 256, "ll" 257, "hell" 258, "hello" 259, " w" 260,
// and " wo" 261; the special token "<|endoftext|>" is 262.
std::string SmallVocabularyJson();
std::string SmallMergesText();

// Returns the vocabulary of SmallVocabularyJson() and SmallMergesText().
std::unique_ptr<BpeVocabulary> SmallBpe();
// Returns the parts of the same vocabulary.
BpeVocabulary::Parts SmallBpeParts();

}  // namespace muster::models

#endif  // MUSTER_MODELS_TEXT_TESTING_SMALL_BPE_H_
