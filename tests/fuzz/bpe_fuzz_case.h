#ifndef MUSTER_TESTS_FUZZ_BPE_FUZZ_CASE_H_
#define MUSTER_TESTS_FUZZ_BPE_FUZZ_CASE_H_

#include <string_view>

namespace muster {

// Runs the case that the first byte of `input` selects: a text, or edits
// (edited_bytes.h) of a valid vocab.json, merges.txt, stored vocabulary or
// token file. Aborts if a result is wrong: a text that is not decoded to
// itself, pieces that do not add up to the text, a vocabulary that changes when
// stored, a token outside of its vocabulary.
void RunBpeFuzzCase(std::string_view input);

}  // namespace muster

#endif  // MUSTER_TESTS_FUZZ_BPE_FUZZ_CASE_H_
