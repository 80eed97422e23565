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

// The key and the certificates of a process for mutual TLS, in PEM form.
struct TokenIdentity {
  // This process's certificate, then the intermediate certificates.
  std::string certificate;
  std::string key;
  std::string authorities;
};

// Whether a coordinator can have `tokens`. InvalidArgument: a derived one is
// among them.
absl::Status CheckCoordinatorTokens(const std::vector<std::string>& tokens);

// The identity of a coordinator whose callers have one of `secrets`, or tokens
// that are derived from them: the one in use, then those that are being
// replaced. `secrets`: not empty; they passed CheckCoordinatorTokens.
TokenIdentity CoordinatorIdentity(const std::vector<std::string>& secrets);

// The identity of an agent or an operator that has `token`. InvalidArgument: a
// derived token is damaged.
absl::StatusOr<TokenIdentity> CallerIdentity(const std::string& token);

// ReadToken (token.h) for an agent or an operator. InvalidArgument also: a
// derived token is damaged.
absl::StatusOr<std::string> ReadCallerToken(
    const std::string& file,
    const std::function<void(const std::string&)>& warn);

// The permissions of a derived token.
struct TokenGrant {
  std::string name;               // of the principal; see IsPrincipalName
  std::set<Role> roles;           // not empty
  std::vector<std::string> jobs;  // run ids or "prefix*"; empty: every job
  std::time_t expires = 0;        // 0: never
};

// Returns a token that `secret` gives to others. InvalidArgument: `secret` is a
// derived token itself, or `grant` has a name or a job that a certificate
// cannot hold.
absl::StatusOr<std::string> DeriveToken(const std::string& secret,
                                        const TokenGrant& grant);

// Whether `token` has the form of a derived token.
bool IsDerivedToken(const std::string& token);

// The name of the authority of `token`, which differs between secrets and
// tells nothing about them: "Muster token 0123456789abcdef". Empty if a derived
// token is damaged.
std::string AuthorityName(const std::string& token);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_TLS_TOKEN_IDENTITY_H_
