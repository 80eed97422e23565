#include "rendezvous/dashboard/dashboard_access.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/is_digits.h"
#include "base/net/socket_address.h"
#include "rendezvous/tls/token_identity.h"

namespace muster::rendezvous {
namespace {

constexpr size_t kMaxPortDigits = 5;
constexpr char kScheme[] = "Bearer ";

// Removes the port, and the brackets of an IPv6 address.
std::string WithoutPort(const std::string& host) {
  if (absl::StartsWith(host, "[")) {
    const size_t end = host.find(']');
    return end == std::string::npos ? "" : host.substr(1, end - 1);
  }
  return host.substr(0, host.find(':'));
}

}  // namespace

absl::StatusOr<Endpoint> ParseDashboardEndpoint(const std::string& text) {
  if (IsDigits(text, kMaxPortDigits)) {
    return ParseEndpoint(absl::StrCat("127.0.0.1:", text));
  }
  // ParseEndpoint accepts a text without a port and uses the coordinator's
  // default port. A dashboard needs an explicit port, so has_port is checked
  // below.
  const absl::StatusOr<Endpoint> endpoint = ParseEndpoint(text);
  const bool has_port = endpoint.ok() && endpoint->ToString() == text;
  if (has_port || !endpoint.ok() || absl::StrContains(text, ":")) {
    return endpoint;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("'", text, "' has no port, as in 127.0.0.1:9402"));
}

absl::Status CheckDashboard(const Endpoint& listen,
                            const std::vector<std::string>& tokens,
                            CallerCertificates certificates) {
  if (certificates == CallerCertificates::kRequired && tokens.empty()) {
    return absl::InvalidArgumentError(
        "the dashboard cannot check certificates; give the job a token as "
        "well (MUSTER_TOKEN or --token-file), which its readers then show");
  }
  if (tokens.empty() || IsLoopback(listen.host)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "the dashboard of a job with a token listens on this host only, because "
      "its connections are in clear text, and ",
      listen.host,
      " is no loopback address; use 127.0.0.1 and reach it by ssh -L"));
}

OutputShown OutputShownAt(const Endpoint& listen) {
  return IsLoopback(listen.host) ? OutputShown::kYes : OutputShown::kNo;
}

bool IsOwnHost(const std::string& host, const std::vector<std::string>& names) {
  const std::string name = absl::AsciiStrToLower(WithoutPort(host));
  if (name.empty()) return false;
  if (IsLoopback(name) || NumericAddress(name, 0).has_value()) return true;
  return std::any_of(names.begin(), names.end(), [&](const std::string& own) {
    return !own.empty() && absl::AsciiStrToLower(own) == name;
  });
}

absl::StatusOr<Principal> DashboardCaller(const std::string& authorization,
                                          const DashboardAccess& access,
                                          std::time_t now) {
  if (access.tokens.empty()) return Principal();
  if (!absl::StartsWith(authorization, kScheme)) {
    return absl::UnauthenticatedError(
        "the dashboard asks for a token with the role view");
  }
  absl::StatusOr<Principal> principal = TokenPrincipal(
      authorization.substr(sizeof(kScheme) - 1), access.tokens, now);
  if (!principal.ok()) return principal;
  const absl::Status allowed = CheckRole(*principal, Role::kView);
  if (!allowed.ok()) return allowed;
  return principal;
}

}  // namespace muster::rendezvous
