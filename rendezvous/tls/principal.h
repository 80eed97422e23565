#ifndef MUSTER_RENDEZVOUS_TLS_PRINCIPAL_H_
#define MUSTER_RENDEZVOUS_TLS_PRINCIPAL_H_

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "rendezvous/tls/x509.h"

namespace muster::rendezvous {

// A permission of a caller of the coordinator's services.

enum class Role {
  kJoin,     // permits an agent to take part in a job as a node
  kView,     // permits a user to see jobs: `launch status`, `watch`
  kOperate,  // permits what kView permits, ending jobs, draining nodes
};

// Returns "join", "view" or "operate".
const char* RoleName(Role role);
std::optional<Role> RoleOf(absl::string_view name);

std::set<Role> AllRoles();

struct Principal {
  // The common name in the caller's certificate, for messages. Empty: the
  // caller has no certificate, or its certificate comes from a secret that
  // several people share.
  std::string name;
  std::set<Role> roles = AllRoles();
  // The jobs for which the roles are valid; empty: every job. RUN_ID names one
  // job, "PREFIX-*" all run ids that begin with "PREFIX-". The pattern is for
  // Kubernetes: the end of a Job's run id is known only once the Job exists.
  std::vector<std::string> jobs;
};

// Returns the principal of a certificate. URIs among the certificate's names
// limit it: "muster:role/ROLE" to the listed roles, and "muster:job/RUN_ID" to
// the listed jobs. A role that this version does not know permits nothing.
Principal PrincipalOf(const CertificateNames& names, std::string common_name);

// Whether the principal's jobs include `run_id`.
bool IncludesJob(const Principal& principal, absl::string_view run_id);

// Checks that the principal has the role `role`. PermissionDenied: the message
// lists the roles that the principal has.
absl::Status CheckRole(const Principal& principal, Role role);

// Checks that the principal has `role` and that its jobs include `run_id`.
absl::Status CheckAccess(const Principal& principal, Role role,
                         absl::string_view run_id);

// Whether `name` is a valid name of a principal: 1 to 64 letters, digits, and
// "._@-".
bool IsPrincipalName(absl::string_view name);

// Whether `job` (a run id or "PREFIX-*") is a valid entry of Principal::jobs: 1
// to 256 characters of printable ASCII, because a certificate stores it in a
// URI.
bool IsJobPattern(absl::string_view job);

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
// for certificates that name jobs (Principal::jobs). Pure.
//
// PermissionDenied: a sentence with the names, the claim and what to do.
absl::Status CheckClaim(const CertificateNames& names, const NodeClaim& claim);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_TLS_PRINCIPAL_H_
