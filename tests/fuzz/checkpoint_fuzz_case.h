#ifndef MUSTER_TESTS_FUZZ_CHECKPOINT_FUZZ_CASE_H_
#define MUSTER_TESTS_FUZZ_CHECKPOINT_FUZZ_CASE_H_

#include <string_view>

namespace muster {

// Edits (edited_bytes.h) of a sound safetensors header, of a checkpoint's
// manifest whose checksum is put right again, or of a rank's list of slices.
// Ends the process where one is read that is another one after it was written,
// or whose tensors do not tile what they should.
void RunCheckpointFuzzCase(std::string_view input);

}  // namespace muster

#endif  // MUSTER_TESTS_FUZZ_CHECKPOINT_FUZZ_CASE_H_
