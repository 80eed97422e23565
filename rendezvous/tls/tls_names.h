#ifndef MUSTER_RENDEZVOUS_TLS_TLS_NAMES_H_
#define MUSTER_RENDEZVOUS_TLS_TLS_NAMES_H_

#include <string>

#include "absl/status/status.h"
#include "rendezvous/tls/x509.h"

namespace muster::rendezvous {

// The URI in the certificate of a coordinator with a token.
inline constexpr char kCoordinatorUri[] = "muster:coordinator";

// Whether the certificate was issued for `host`, a host name or an IP address.
// Host names are compared without case; "*.lab" matches one label: "node7.lab",
// but neither "lab" nor "a.node7.lab". Pure.
bool NamesHost(const CertificateNames& names, const std::string& host);

// Whether the certificate is that of a coordinator with a token
// (token_identity.h). Pure.
bool NamesCoordinator(const CertificateNames& names);

// The names in a node's first report, and the address of its connection.
struct NodeClaim {
  std::string run_id;
  std::string host;  // host name
  std::string ip;    // the address of its connection
};

// Checks that a certificate with `names`, which is not a job's (principal.h),
// may speak for the node: it was issued for the node's host name (in full, or
// for its first label) or for its address. Pure.
//
// PermissionDenied: a sentence with the names, the claim and what to do.
absl::Status CheckClaim(const CertificateNames& names, const NodeClaim& claim);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_TLS_TLS_NAMES_H_
