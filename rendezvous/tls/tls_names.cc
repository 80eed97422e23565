#include "rendezvous/tls/tls_names.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace muster::rendezvous {
namespace {

bool MatchesName(const std::string& pattern, const std::string& host) {
  if (absl::EqualsIgnoreCase(pattern, host)) return true;
  if (!absl::StartsWith(pattern, "*.")) return false;
  const size_t dot = host.find('.');
  return dot != std::string::npos && dot > 0 &&
         absl::EqualsIgnoreCase(pattern.substr(1), host.substr(dot));
}

// Whether one of the two host names is the first label of the other: "node7" of
// "node7.lab", in either order. Two equal names without a domain also count.
// Ignores case.
bool IsShortFor(const std::string& name, const std::string& host) {
  const std::string& shorter = name.size() < host.size() ? name : host;
  const std::string& longer = name.size() < host.size() ? host : name;
  return !shorter.empty() && !absl::StrContains(shorter, '.') &&
         absl::EqualsIgnoreCase(shorter, longer.substr(0, longer.find('.')));
}

}  // namespace

bool NamesHost(const CertificateNames& names, const std::string& host) {
  if (host.empty()) return false;
  return std::find(names.ips.begin(), names.ips.end(), host) !=
             names.ips.end() ||
         std::any_of(names.dns.begin(), names.dns.end(),
                     [&](const std::string& pattern) {
                       return MatchesName(pattern, host);
                     });
}

bool NamesCoordinator(const CertificateNames& names) {
  return std::find(names.uris.begin(), names.uris.end(), kCoordinatorUri) !=
         names.uris.end();
}

absl::Status CheckClaim(const CertificateNames& names, const NodeClaim& claim) {
  const bool is_short = std::any_of(
      names.dns.begin(), names.dns.end(),
      [&](const std::string& name) { return IsShortFor(name, claim.host); });
  if (is_short || NamesHost(names, claim.host) || NamesHost(names, claim.ip)) {
    return absl::OkStatus();
  }
  return absl::PermissionDeniedError(absl::StrCat(
      "the certificate is for ", ToText(names), ", but the node calls itself ",
      claim.host, " and comes from ", claim.ip,
      "; give its certificate that name or address, or the URI muster:job/",
      claim.run_id, ", as a subject alternative name"));
}

}  // namespace muster::rendezvous
