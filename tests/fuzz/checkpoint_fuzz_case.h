#ifndef MUSTER_TESTS_FUZZ_CHECKPOINT_FUZZ_CASE_H_
#define MUSTER_TESTS_FUZZ_CHECKPOINT_FUZZ_CASE_H_

#include <string_view>

namespace muster {

// Edits (edited_bytes.h) a valid safetensors header, a checkpoint's manifest
// (whose checksum is corrected afterwards), or a rank's list of slices. Aborts
// if one of them is accepted that changes when written again, or whose tensors
// do not tile their range.
void RunCheckpointFuzzCase(std::string_view input);

}  // namespace muster

#endif  // MUSTER_TESTS_FUZZ_CHECKPOINT_FUZZ_CASE_H_
