#ifndef MUSTER_RENDEZVOUS_TLS_TLS_NAMES_H_
#define MUSTER_RENDEZVOUS_TLS_TLS_NAMES_H_

#include <string>

#include "absl/status/status.h"
#include "rendezvous/tls/x509.h"

namespace muster::rendezvous {

// The URI in the certificate of a coordinator that uses a token.
inline constexpr char kCoordinatorUri[] = "muster:coordinator";

// Whether the certificate was issued for `host`, a host name or an IP address.
// Ignores the case of host names. "*.lab" matches exactly one label before
// ".lab": "node7.lab", but neither "lab" nor "a.node7.lab". Pure.
bool NamesHost(const CertificateNames& names, const std::string& host);

// Whether the certificate belongs to a coordinator that uses a token
// (token_identity.h). Pure.
bool NamesCoordinator(const CertificateNames& names);

// The names that a node claims in its first report, and the address of its
// connection.
struct NodeClaim {
  std::string run_id;
  std::string host;  // host name
  std::string ip;    // IP address of the node's connection
};

// Checks that a node may report under the host name and address in `claim`. The
// node's certificate, which has `names`, must be issued for this host name (in
// full, or for its first label) or for this address. Do not use this function
// for certificates that name jobs (principal.h). Pure.
//
// PermissionDenied: a sentence with the names, the claim and what to do.
absl::Status CheckClaim(const CertificateNames& names, const NodeClaim& claim);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_TLS_TLS_NAMES_H_
