#ifndef MUSTER_RENDEZVOUS_EVENTS_SHOWN_COMMAND_H_
#define MUSTER_RENDEZVOUS_EVENTS_SHOWN_COMMAND_H_

#include <string>
#include <string_view>

namespace muster::rendezvous {

// Returns the command of a job (JobSpec::command) for files that other people
// may read. The values of arguments that look like secrets are replaced by
// "[left out]". An argument looks like a secret in three cases:
// - Its name has a word such as token, password or key: "--api-key=…",
//   "--hf-token …", "SECRET=…".
// - Its value begins like a token of a known service: "hf_…", "ghp_…".
// - It is an address with a user's password: "s3://user:password@host".
// Other secrets, such as a password without a name, remain in the result. Pure.
std::string ShownCommand(std::string_view command);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_EVENTS_SHOWN_COMMAND_H_
