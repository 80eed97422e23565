#include "rendezvous/tls/principal.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace muster::rendezvous {
namespace {

constexpr absl::string_view kRoleUri = "muster:role/";
constexpr absl::string_view kJobUri = "muster:job/";
constexpr size_t kMaxJobSize = 256;
constexpr size_t kMaxNameSize = 64;  // X.509's limit for a common name

struct NamedRole {
  Role role;
  const char* name;
};
constexpr std::array<NamedRole, 3> kRoles = {{{Role::kJoin, "join"},
                                              {Role::kView, "view"},
                                              {Role::kOperate, "operate"}}};

// Whether `job`, an entry of Principal::jobs, matches `run_id`. They match if
// they are equal, or if `job` is "PREFIX-*" and `run_id` is "PREFIX-" with more
// characters. "*" alone matches only itself.
bool MatchesJob(absl::string_view job, absl::string_view run_id) {
  if (job == run_id) return true;
  return absl::ConsumeSuffix(&job, "*") && job.size() > 1 &&
         job.back() == '-' && run_id.size() > job.size() &&
         absl::StartsWith(run_id, job);
}

std::string Who(const Principal& principal) {
  return principal.name.empty() ? "this caller" : principal.name;
}

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

const char* RoleName(Role role) {
  return std::find_if(kRoles.begin(), kRoles.end(),
                      [&](const NamedRole& one) { return one.role == role; })
      ->name;
}

std::optional<Role> RoleOf(absl::string_view name) {
  for (const NamedRole& one : kRoles) {
    if (name == one.name) return one.role;
  }
  return std::nullopt;
}

std::set<Role> AllRoles() { return {Role::kJoin, Role::kView, Role::kOperate}; }

Principal PrincipalOf(const CertificateNames& names, std::string common_name) {
  Principal principal{.name = std::move(common_name)};
  bool has_role = false;
  std::set<Role> roles;
  for (const std::string& uri : names.uris) {
    absl::string_view rest = uri;
    if (absl::ConsumePrefix(&rest, kRoleUri)) {
      has_role = true;
      if (const std::optional<Role> role = RoleOf(rest)) roles.insert(*role);
    } else if (absl::ConsumePrefix(&rest, kJobUri)) {
      principal.jobs.emplace_back(rest);
    }
  }
  if (has_role) principal.roles = std::move(roles);
  if (principal.roles.count(Role::kOperate) != 0) {
    principal.roles.insert(Role::kView);
  }
  return principal;
}

bool IncludesJob(const Principal& principal, absl::string_view run_id) {
  return principal.jobs.empty() ||
         std::any_of(principal.jobs.begin(), principal.jobs.end(),
                     [&](const std::string& pattern) {
                       return MatchesJob(pattern, run_id);
                     });
}

absl::Status CheckRole(const Principal& principal, Role role) {
  if (principal.roles.count(role) != 0) return absl::OkStatus();
  const std::string has =
      principal.roles.empty()
          ? "no role that this version knows"
          : absl::StrCat("only the role ",
                         absl::StrJoin(principal.roles, " and ",
                                       [](std::string* out, Role one) {
                                         out->append(RoleName(one));
                                       }));
  return absl::PermissionDeniedError(
      absl::StrCat(Who(principal), " may not ", RoleName(role),
                   ": its token or certificate has ", has));
}

absl::Status CheckAccess(const Principal& principal, Role role,
                         absl::string_view run_id) {
  absl::Status allowed = CheckRole(principal, role);
  if (!allowed.ok() || IncludesJob(principal, run_id)) return allowed;
  return absl::PermissionDeniedError(
      absl::StrCat(Who(principal), " may not ", RoleName(role), " job \"",
                   run_id, "\": its token or certificate is for ",
                   absl::Utf8SafeCEscape(absl::StrJoin(principal.jobs, ", "))));
}

bool IsPrincipalName(absl::string_view name) {
  return !name.empty() && name.size() <= kMaxNameSize &&
         std::all_of(name.begin(), name.end(), [](unsigned char c) {
           return absl::ascii_isalnum(c) || c == '.' || c == '_' || c == '@' ||
                  c == '-';
         });
}

bool IsJobPattern(absl::string_view job) {
  return !job.empty() && job.size() <= kMaxJobSize &&
         std::all_of(job.begin(), job.end(),
                     [](unsigned char c) { return absl::ascii_isprint(c); });
}

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
