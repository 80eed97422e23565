#ifndef MUSTER_TESTS_FUZZ_HOST_LIST_FUZZ_CASE_H_
#define MUSTER_TESTS_FUZZ_HOST_LIST_FUZZ_CASE_H_

#include <string_view>

namespace muster {

// Edits (edited_bytes.h) of a sound host list of Slurm's. Ends the process
// where names are read that no bound holds for, or that are another list when
// they are written one by one.
void RunHostListFuzzCase(std::string_view input);

}  // namespace muster

#endif  // MUSTER_TESTS_FUZZ_HOST_LIST_FUZZ_CASE_H_
