#ifndef MUSTER_TESTS_FUZZ_SSH_FUZZ_CASE_H_
#define MUSTER_TESTS_FUZZ_SSH_FUZZ_CASE_H_

#include <string_view>

namespace muster {

// Gives `input`, and what it edits of sound ones (see EditedBytes), to
// everything of a start over ssh that reads what comes from outside: host files
// and filters, .deepspeed_env, words of --ssh-args, both ends' messages.
// Whatever is taken must be sound and come out again the same.
void RunSshFuzzCase(std::string_view input);

}  // namespace muster

#endif  // MUSTER_TESTS_FUZZ_SSH_FUZZ_CASE_H_
