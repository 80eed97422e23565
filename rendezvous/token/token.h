#ifndef MUSTER_RENDEZVOUS_TOKEN_TOKEN_H_
#define MUSTER_RENDEZVOUS_TOKEN_TOKEN_H_

#include <functional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace muster::rendezvous {

// The job token: a secret shared by the coordinator and every agent. It comes
// from a file or from MUSTER_TOKEN, never from a command line, which all users
// of the machine can read.

inline constexpr char kTokenVariable[] = "MUSTER_TOKEN";

// Returns the token in `file`, or if `file` is empty the value of MUSTER_TOKEN,
// or "" if neither is set. One trailing line end is removed. Calls `warn` at
// most once, with a sentence, if other users may read the file.
//
// NotFound, PermissionDenied: the file cannot be read. InvalidArgument: the
// token is empty, longer than 4 KiB, or has characters that HTTP cannot carry.
absl::StatusOr<std::string> ReadToken(
    const std::string& file,
    const std::function<void(const std::string&)>& warn);

// Whether `given` equals `expected`. Runs in a time that depends only on the
// length of `given`, so that an attacker cannot guess the token piece by piece.
bool IsToken(std::string_view given, std::string_view expected);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_TOKEN_TOKEN_H_
