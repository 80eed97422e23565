#ifndef MUSTER_RENDEZVOUS_TOKEN_TOKEN_H_
#define MUSTER_RENDEZVOUS_TOKEN_TOKEN_H_

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace muster::rendezvous {

// The environment variable with the job token, a secret that the coordinator
// and every agent share. The token comes from this variable or from a file. It
// never comes from a command line, which all users of the machine can read. A
// job of one node without a token makes a fresh one (launcher/local_token.h).

inline constexpr char kTokenVariable[] = "MUSTER_TOKEN";

// Moves MUSTER_TOKEN out of the environment into this library's memory, and
// overwrites it in the environment. So neither child processes nor readers of
// /proc/PID/environ see it. Programs call this at the start of main, while the
// process has one thread.
void TakeTokenVariable();

// Returns the value of MUSTER_TOKEN that TakeTokenVariable has moved; "" if it
// was not set.
const std::string& TakenToken();

// Returns a new token: 32 random bytes as hexadecimal text.
std::string FreshToken();

// Returns the job tokens in the file with the path `file`. Its first line is
// the token in use; a second line may contain the token that is being replaced.
// If `file` is empty, returns the value of MUSTER_TOKEN, and moves it out of
// the environment (TakeTokenVariable). Returns an empty vector if MUSTER_TOKEN
// is not set either. Calls `warn` with a sentence if other users may read the
// file, or if a token is so short that it may be guessed.
//
// NotFound, PermissionDenied: the file cannot be read. InvalidArgument: there
// are more than two tokens, or a token is empty, longer than 4 KiB, or has
// characters that HTTP cannot carry.
absl::StatusOr<std::vector<std::string>> ReadTokens(
    const std::string& file,
    const std::function<void(const std::string&)>& warn);

// Returns the first of the job tokens that ReadTokens reads; "" if there is
// none.
absl::StatusOr<std::string> ReadToken(
    const std::string& file,
    const std::function<void(const std::string&)>& warn);

// Whether the token `given` of a caller equals the `expected` token. The
// comparison takes the same time for all tokens `given` of the same length, so
// an attacker who measures the time cannot guess the token piece by piece.
bool IsToken(std::string_view given, std::string_view expected);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_TOKEN_TOKEN_H_
