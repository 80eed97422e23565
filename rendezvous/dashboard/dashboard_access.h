#ifndef MUSTER_RENDEZVOUS_DASHBOARD_DASHBOARD_ACCESS_H_
#define MUSTER_RENDEZVOUS_DASHBOARD_DASHBOARD_ACCESS_H_

#include <ctime>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rendezvous/endpoint/endpoint.h"
#include "rendezvous/tls/principal.h"

namespace muster::rendezvous {

// Decides which callers may read the dashboard. All functions are pure.

// Whether the dashboard shows the output of workers, which may contain secrets.
enum class OutputShown { kNo, kYes };

struct DashboardAccess {
  // Secrets of the coordinator. A request must carry one of these secrets, or a
  // token that was derived from one and has the role `view`. Empty: every
  // client that can connect may read.
  std::vector<std::string> tokens;
  // Names of this host that a request may be addressed to, besides IP addresses
  // and "localhost".
  std::vector<std::string> host_names;
  OutputShown output = OutputShown::kNo;
};

// Whether a dashboard that listens at `listen` shows the workers' output: only
// if other hosts cannot reach the address. A dashboard that other hosts can
// reach has no token (CheckDashboard), so every client could read the
// output there.
OutputShown OutputShownAt(const Endpoint& listen);

// Parses the address of a dashboard. In addition to the forms of ParseEndpoint,
// a port alone means 127.0.0.1:PORT. InvalidArgument: `text` is malformed.
absl::StatusOr<Endpoint> ParseDashboardEndpoint(const std::string& text);

// Whether a coordinator requires a TLS certificate from each caller. It does if
// it was started with --tls-cert.
enum class CallerCertificates { kNotRequired, kRequired };

// Checks that the dashboard may listen at `listen`, where it is served in clear
// text. InvalidArgument, one sentence, in two cases. Either the coordinator has
// a token, and other hosts can reach the address. Or the coordinator requires
// certificates and has no token, so a browser could not identify its user.
absl::Status CheckDashboard(const Endpoint& listen,
                            const std::vector<std::string>& tokens,
                            CallerCertificates certificates);

// Whether the header Host of a request names this host: an IP address,
// "localhost", or one of `names`, with or without a port. Protects from DNS
// rebinding: an attacker can make the name of another site resolve to this
// host. Requests from pages of that site then carry the site's name.
bool IsOwnHost(const std::string& host, const std::vector<std::string>& names);

// Identifies the caller by the token in `authorization`, the value of a
// request's header Authorization. Unauthenticated: there is no valid token.
// PermissionDenied: the token does not have the role `view`.
absl::StatusOr<Principal> DashboardCaller(const std::string& authorization,
                                          const DashboardAccess& access,
                                          std::time_t now);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_DASHBOARD_DASHBOARD_ACCESS_H_
