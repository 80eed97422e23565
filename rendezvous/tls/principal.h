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

// The caller of the coordinator's services, and the caller's permissions. Pure.

enum class Role {
  kJoin,     // be a node of a job
  kView,     // see jobs: `launch status`, `watch`
  kOperate,  // kView, and end jobs and drain nodes: `cancel`, `drain`
};

// "join", "view", "operate".
const char* RoleName(Role role);
std::optional<Role> RoleOf(absl::string_view name);

std::set<Role> AllRoles();

struct Principal {
  // The common name of the certificate, for messages. Empty: unknown, because
  // there is no certificate, or because the certificate comes from a secret,
  // which several people share.
  std::string name;
  std::set<Role> roles = AllRoles();
  // The jobs to which the roles apply: RUN_ID, or "PREFIX-*" for the run ids
  // that begin with "PREFIX-", because the end of a Kubernetes Job's run id is
  // known only once the Job exists. Empty: every job.
  std::vector<std::string> jobs;
};

// The principal of a certificate. URIs among the certificate's names limit the
// principal: "muster:role/ROLE" to the roles that are named so, and
// "muster:job/RUN_ID" to the jobs that are named so. A role that this version
// does not know permits nothing.
Principal PrincipalOf(const CertificateNames& names, std::string common_name);

// Whether the principal's jobs include `run_id`.
bool IncludesJob(const Principal& principal, absl::string_view run_id);

// PermissionDenied: a sentence that says which roles the principal has, if
// `role` is not among them.
absl::Status CheckRole(const Principal& principal, Role role);

// The same, and whether the principal's jobs include `run_id`.
absl::Status CheckAccess(const Principal& principal, Role role,
                         absl::string_view run_id);

// Whether `name` can be that of a principal: 1 to 64 letters, digits, and
// "._@-".
bool IsPrincipalName(absl::string_view name);

// Whether `job` can be one of Principal::jobs: 1 to 256 printable ASCII
// characters, since certificates hold no others.
bool IsJobPattern(absl::string_view job);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_TLS_PRINCIPAL_H_
