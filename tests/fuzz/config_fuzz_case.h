#ifndef MUSTER_TESTS_FUZZ_CONFIG_FUZZ_CASE_H_
#define MUSTER_TESTS_FUZZ_CONFIG_FUZZ_CASE_H_

#include <string_view>

namespace muster {

// A sound configuration file of one of the three forms (the first byte says
// which) with the edits of the rest (EditedBytes): what is refused has one line
// that names the file, and what is read has no more than its text gives, and
// no name that would harm an environment.
void RunConfigFuzzCase(std::string_view input);

}  // namespace muster

#endif  // MUSTER_TESTS_FUZZ_CONFIG_FUZZ_CASE_H_
