#ifndef MUSTER_RENDEZVOUS_TLS_TOKEN_IDENTITY_H_
#define MUSTER_RENDEZVOUS_TLS_TOKEN_IDENTITY_H_

#include <ctime>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rendezvous/tls/principal.h"

namespace muster::rendezvous {

// Mutual TLS with nothing but a token. Two kinds of tokens:
//
//   a secret   any text, which the coordinator and its callers share. HKDF
//              derives the key of a certificate authority (Ed25519) from the
//              secret. Each process makes a key of its own and a certificate
//              that this authority signs. The secret is never sent. Without the
//              secret a process cannot read the traffic, cannot be coordinator
//              or caller, and cannot be a man in the middle.
//   derived    "muster1." and Base64: a private key, its certificate with a
//              name, roles and jobs, and the authority's certificate. Made from
//              a secret by DeriveToken. Proves the name, roles and jobs of a
//              caller. The holder of a derived token cannot be a coordinator.

// The key and certificates of a process for mutual TLS, in PEM form.
struct TokenIdentity {
  // This process's certificate, followed by the intermediate certificates.
  std::string certificate;
  std::string key;
  std::string authorities;
};

// Checks that a coordinator can use `tokens`. InvalidArgument: at least one of
// `tokens` is a derived token.
absl::Status CheckCoordinatorTokens(const std::vector<std::string>& tokens);

// Returns the identity of a coordinator. Its callers have one of `secrets`, or
// tokens derived from them. The first secret is in use; the others are being
// replaced. `secrets` must not be empty, and must have passed
// CheckCoordinatorTokens.
TokenIdentity CoordinatorIdentity(const std::vector<std::string>& secrets);

// Returns the identity of an agent or an operator with `token`.
// InvalidArgument: `token` is a damaged derived token.
absl::StatusOr<TokenIdentity> CallerIdentity(const std::string& token);

// Reads the token of an agent or an operator, like ReadToken (token.h). Errors:
// those of ReadToken; InvalidArgument: the token is a damaged derived token.
absl::StatusOr<std::string> ReadCallerToken(
    const std::string& file,
    const std::function<void(const std::string&)>& warn);

// The permissions of a derived token.
struct TokenGrant {
  std::string name;               // name of the principal (IsPrincipalName)
  std::set<Role> roles;           // at least one role
  std::vector<std::string> jobs;  // run ids or "PREFIX-*"; empty: all
  std::time_t expires = 0;        // time of expiry; 0: never expires
};

// Returns a token with the permissions `grant`, derived from `secret`.
// InvalidArgument: `secret` is itself a derived token, or `grant` has a name or
// a job that cannot stand in a certificate.
absl::StatusOr<std::string> DeriveToken(const std::string& secret,
                                        const TokenGrant& grant);

// Returns the principal of a caller that uses no certificate: it sends its
// token, `given`, with the call. `secrets`: the coordinator's secrets. `now`:
// the current time; a token that has expired by then is refused.
// Unauthenticated: `given` is neither one of the secrets, nor a valid token
// that was derived from one of them. Secrets are compared in constant time.
absl::StatusOr<Principal> TokenPrincipal(
    const std::string& given, const std::vector<std::string>& secrets,
    std::time_t now);

// Whether `token` has the form of a token that DeriveToken has made: it begins
// with "muster1.".
bool IsDerivedToken(const std::string& token);

// Returns the common name of the token's authority: "Muster token
// 0123456789abcdef". Different secrets give different names, and a name reveals
// nothing about its secret. Empty if `token` is a damaged derived token.
std::string AuthorityName(const std::string& token);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_TLS_TOKEN_IDENTITY_H_
