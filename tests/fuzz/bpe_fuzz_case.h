#ifndef MUSTER_TESTS_FUZZ_BPE_FUZZ_CASE_H_
#define MUSTER_TESTS_FUZZ_BPE_FUZZ_CASE_H_

#include <string_view>

namespace muster {

// What the first byte of the input says: a text, or edits (edited_bytes.h) of a
// sound vocab.json, merges.txt, stored vocabulary or token file. Ends the
// process where what is read is not what it should be: a text that does not
// come back, pieces that are not the whole, a vocabulary that is another one
// after it was stored, a token outside of its vocabulary.
void RunBpeFuzzCase(std::string_view input);

}  // namespace muster

#endif  // MUSTER_TESTS_FUZZ_BPE_FUZZ_CASE_H_
