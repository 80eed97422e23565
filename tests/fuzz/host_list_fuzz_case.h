#ifndef MUSTER_TESTS_FUZZ_HOST_LIST_FUZZ_CASE_H_
#define MUSTER_TESTS_FUZZ_HOST_LIST_FUZZ_CASE_H_

#include <string_view>

namespace muster {

// Edits (edited_bytes.h) a valid host list of Slurm. Aborts if an accepted list
// has names outside of their limits, or differs from the list of its names
// written one by one.
void RunHostListFuzzCase(std::string_view input);

}  // namespace muster

#endif  // MUSTER_TESTS_FUZZ_HOST_LIST_FUZZ_CASE_H_
