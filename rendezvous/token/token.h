#ifndef MUSTER_RENDEZVOUS_TOKEN_TOKEN_H_
#define MUSTER_RENDEZVOUS_TOKEN_TOKEN_H_

#include <functional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace muster {

// The job token: a secret that the coordinator and every agent share. It comes
// from a file or from MUSTER_TOKEN, never from a command line, which everybody
// on the machine can read.

inline constexpr char kTokenVariable[] = "MUSTER_TOKEN";

// The token in `file`, or if that is empty the one in MUSTER_TOKEN; empty if
// neither is set. One line end after it does not count. `warn` is called, at
// most once, with a sentence where others may read the file.
//
// NotFound, PermissionDenied: the file cannot be read. InvalidArgument: it
// holds no token: empty, longer than 4 KiB, or with characters that HTTP cannot
// carry.
absl::StatusOr<std::string> ReadToken(
    const std::string& file,
    const std::function<void(const std::string&)>& warn);

// Whether `given` is `expected`. Takes a time that depends on the length of
// `given` only, so that a stranger cannot guess the token piece by piece.
bool IsToken(std::string_view given, std::string_view expected);

}  // namespace muster

#endif  // MUSTER_RENDEZVOUS_TOKEN_TOKEN_H_
