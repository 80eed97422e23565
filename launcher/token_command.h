#ifndef MUSTER_LAUNCHER_TOKEN_COMMAND_H_
#define MUSTER_LAUNCHER_TOKEN_COMMAND_H_

#include <ctime>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "launcher/options/flag.h"
#include "launcher/voice.h"
#include "rendezvous/endpoint/endpoint.h"
#include "rendezvous/tls/token_identity.h"

namespace muster::launcher {

// The parsed command line of `launch token`.
struct TokenRequest {
  // The output of `launch token`. kHelp: its help text. kSecret: a fresh
  // secret. kDerived: a token that is derived from a secret.
  enum class Way { kHelp, kSecret, kDerived };
  Way way = Way::kSecret;
  // if `way` is kDerived: path of the file with the secret from which the token
  // is derived
  std::string token_file;
  // If `way` is kDerived: the endpoint of a coordinator that this user started
  // on this host; the token is derived from the secret of this coordinator.
  // nullopt: the secret is in token_file or in MUSTER_TOKEN.
  std::optional<rendezvous::Endpoint> endpoint;
  // if `way` is kDerived: the permissions of the new token
  rendezvous::TokenGrant grant;
};

// The flags of `launch token`.
std::vector<Flag> TokenFlags();

// Parses the arguments after "token". `now`: the time from which --valid-for
// counts. `user`: the default of --name. InvalidArgument: the message is a
// sentence.
absl::StatusOr<TokenRequest> ParseTokenRequest(
    const std::vector<std::string>& args,
    const std::map<std::string, std::string>& environment, std::time_t now,
    const std::string& user);

// `launch token`: prints a fresh secret or a token that is derived from one.
// Returns the exit code.
int TokenCommand(const std::vector<std::string>& args,
                 const std::map<std::string, std::string>& environment,
                 const Voice& voice);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_TOKEN_COMMAND_H_
