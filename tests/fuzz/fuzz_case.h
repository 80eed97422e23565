#ifndef MUSTER_TESTS_FUZZ_FUZZ_CASE_H_
#define MUSTER_TESTS_FUZZ_FUZZ_CASE_H_

#include <string_view>

namespace muster {

// Passes `input` to the parsers of one target, and aborts if a property does
// not hold. Each TARGET_fuzz_case.cc defines this function for its target, and
// says how the input is used and which properties are checked.
void RunFuzzCase(std::string_view input);

}  // namespace muster

#endif  // MUSTER_TESTS_FUZZ_FUZZ_CASE_H_
