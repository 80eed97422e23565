#ifndef MUSTER_TESTS_FUZZ_FUZZ_CASE_H_
#define MUSTER_TESTS_FUZZ_FUZZ_CASE_H_

#include <string_view>

namespace muster {

// Runs a fuzz target: passes `input` to its parsers, and aborts if a property
// does not hold. Each file TARGET_fuzz_case.cc defines this function for one
// target; its first comment says how the input is used and which properties are
// checked.
void RunFuzzCase(std::string_view input);

}  // namespace muster

#endif  // MUSTER_TESTS_FUZZ_FUZZ_CASE_H_
