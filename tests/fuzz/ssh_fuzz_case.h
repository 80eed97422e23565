#ifndef MUSTER_TESTS_FUZZ_SSH_FUZZ_CASE_H_
#define MUSTER_TESTS_FUZZ_SSH_FUZZ_CASE_H_

#include <string_view>

namespace muster {

// Passes `input`, and valid inputs edited by it (EditedBytes), to all parsers
// of a start over ssh: host files and filters, .deepspeed_env, --ssh-args, and
// the messages of both sides. Accepted input must be valid, and must be the
// same after writing and reading it again.
void RunSshFuzzCase(std::string_view input);

}  // namespace muster

#endif  // MUSTER_TESTS_FUZZ_SSH_FUZZ_CASE_H_
