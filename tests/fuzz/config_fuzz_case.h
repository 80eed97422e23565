#ifndef MUSTER_TESTS_FUZZ_CONFIG_FUZZ_CASE_H_
#define MUSTER_TESTS_FUZZ_CONFIG_FUZZ_CASE_H_

#include <string_view>

namespace muster {

// Applies the edits of `input` (EditedBytes) to a valid configuration file in
// one of three forms, selected by the first byte. Checks that a refusal is one
// line that names the file, and that an accepted file yields no more than its
// text holds and no name that is harmful in an environment.
void RunConfigFuzzCase(std::string_view input);

}  // namespace muster

#endif  // MUSTER_TESTS_FUZZ_CONFIG_FUZZ_CASE_H_
