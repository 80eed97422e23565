#include "rendezvous/tls/principal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::rendezvous {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Principal Of(std::vector<std::string> uris) {
  return PrincipalOf({.dns = {"node7"}, .uris = std::move(uris)}, "ada");
}

TEST(PrincipalTest, RoleNamesAreReadBack) {
  for (const Role role : AllRoles()) EXPECT_EQ(RoleOf(RoleName(role)), role);
  EXPECT_EQ(RoleOf("root"), std::nullopt);
}

TEST(PrincipalTest, CertificateWithoutUrisPermitsEverything) {
  const Principal principal = Of({});
  EXPECT_EQ(principal.name, "ada");
  EXPECT_EQ(principal.roles, AllRoles());
  EXPECT_TRUE(CheckAccess(principal, Role::kOperate, "any").ok());
}

TEST(PrincipalTest, RolesOfTheCertificateAreTheOnlyOnes) {
  const Principal principal = Of({"muster:role/join"});
  EXPECT_TRUE(CheckAccess(principal, Role::kJoin, "job").ok());
  const absl::Status denied = CheckAccess(principal, Role::kOperate, "job");
  EXPECT_EQ(denied.code(), absl::StatusCode::kPermissionDenied);
  EXPECT_THAT(std::string(denied.message()),
              AllOf(HasSubstr("ada may not operate"), HasSubstr("join")));
  EXPECT_FALSE(CheckRole(principal, Role::kView).ok());
}

TEST(PrincipalTest, OperatorsMaySee) {
  EXPECT_THAT(Of({"muster:role/operate"}).roles,
              ElementsAre(Role::kView, Role::kOperate));
}

TEST(PrincipalTest, UnknownRolePermitsNothing) {
  const Principal principal = Of({"muster:role/dance"});
  EXPECT_TRUE(principal.roles.empty());
  EXPECT_FALSE(CheckRole(principal, Role::kJoin).ok());
}

TEST(PrincipalTest, JobsOfTheCertificateAreTheOnlyOnes) {
  const Principal principal = Of({"muster:job/r1", "muster:job/ada-*"});
  EXPECT_TRUE(CheckAccess(principal, Role::kJoin, "r1").ok());
  EXPECT_TRUE(CheckAccess(principal, Role::kJoin, "ada-bert").ok());
  for (const char* other :
       {"r12", "r", "ada", "ada-", "ada2-x", "bob-ada-x", ""}) {
    const absl::Status denied = CheckAccess(principal, Role::kJoin, other);
    EXPECT_EQ(denied.code(), absl::StatusCode::kPermissionDenied) << other;
    EXPECT_THAT(std::string(denied.message()), HasSubstr("r1, ada-*"));
  }
}

TEST(PrincipalTest, StarWithoutAPrefixAndItsDashIsNoWildcard) {
  const Principal principal = Of(
      {"muster:job/*", "muster:job/-*", "muster:job/tr*", "muster:job/tr-*-1"});
  for (const char* run_id : {"trainer-1", "-1", "tr-2-1", "-", ""}) {
    EXPECT_FALSE(IncludesJob(principal, run_id)) << run_id;
  }
  // "muster:job/*" permits only the job whose run id is "*".
  EXPECT_TRUE(IncludesJob(principal, "*"));
}

TEST(PrincipalTest, ControlCharactersOfJobsDoNotReachMessages) {
  const absl::Status denied =
      CheckAccess(Of({"muster:job/a\n\x1b[2J"}), Role::kView, "r1");
  EXPECT_THAT(std::string(denied.message()), HasSubstr("for a\\n\\033[2J"));
}

TEST(PrincipalTest, OtherUrisLimitNothing) {
  const Principal principal =
      Of({"spiffe://lab/ns/a", "muster:coordinator", "muster:jobs/x"});
  EXPECT_TRUE(principal.jobs.empty());
  EXPECT_EQ(principal.roles, AllRoles());
}

TEST(PrincipalTest, NamesAndJobsThatCertificatesCanHold) {
  EXPECT_TRUE(IsPrincipalName("ada.l@node-1_x"));
  EXPECT_TRUE(IsPrincipalName(std::string(64, 'a')));
  EXPECT_FALSE(IsPrincipalName(std::string(65, 'a')));
  for (const char* bad : {"", "a b", "ä", "a\n", "a/b", "a,CN=b"}) {
    EXPECT_FALSE(IsPrincipalName(bad)) << bad;
  }
  EXPECT_TRUE(IsJobPattern("job 7*"));
  EXPECT_FALSE(IsJobPattern(""));
  EXPECT_FALSE(IsJobPattern("a\n"));
  EXPECT_FALSE(IsJobPattern(std::string(257, 'a')));
}

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(TlsNamesTest, HostNamesMatchWithoutCase) {
  const CertificateNames names{.dns = {"Node7.lab"}, .ips = {"10.0.0.7"}};
  EXPECT_TRUE(NamesHost(names, "node7.LAB"));
  EXPECT_TRUE(NamesHost(names, "10.0.0.7"));
  EXPECT_FALSE(NamesHost(names, "node8.lab"));
  EXPECT_FALSE(NamesHost(names, "node7"));
  EXPECT_FALSE(NamesHost(names, "10.0.0.70"));
  EXPECT_FALSE(NamesHost(names, ""));
}

TEST(TlsNamesTest, WildcardMatchesExactlyOneLabel) {
  const CertificateNames names{.dns = {"*.lab"}};
  EXPECT_TRUE(NamesHost(names, "node7.lab"));
  EXPECT_FALSE(NamesHost(names, "a.node7.lab"));
  EXPECT_FALSE(NamesHost(names, "lab"));
  EXPECT_FALSE(NamesHost(names, ".lab"));
}

TEST(TlsNamesTest, CoordinatorWithATokenIsNamedByItsUri) {
  EXPECT_TRUE(NamesCoordinator({.uris = {"a:b", "muster:coordinator"}}));
  EXPECT_FALSE(NamesCoordinator({.dns = {"muster:coordinator"}}));
}

TEST(TlsNamesTest, ClaimOfTheCertificatesHostOrAddressIsAccepted) {
  const NodeClaim claim{.run_id = "r1", .host = "node7.lab", .ip = "10.0.0.7"};
  EXPECT_TRUE(CheckClaim({.dns = {"node7.lab"}}, claim).ok());
  EXPECT_TRUE(CheckClaim({.dns = {"node7"}}, claim).ok());
  EXPECT_TRUE(CheckClaim({.dns = {"*.lab"}}, claim).ok());
  EXPECT_TRUE(CheckClaim({.ips = {"10.0.0.7"}}, claim).ok());
  EXPECT_TRUE(CheckClaim({.dns = {"node7.lab"}},
                         {.run_id = "r", .host = "node7", .ip = "::1"})
                  .ok());
}

TEST(TlsNamesTest, ClaimOfAnotherHostIsDenied) {
  const NodeClaim claim{.run_id = "r1", .host = "node7.lab", .ip = "10.0.0.7"};
  EXPECT_FALSE(CheckClaim({.dns = {"node7.other"}}, claim).ok());
  EXPECT_FALSE(CheckClaim({.dns = {"node70"}}, claim).ok());
  EXPECT_FALSE(CheckClaim({.ips = {"10.0.0.8"}}, claim).ok());
  EXPECT_FALSE(CheckClaim({}, {}).ok());
  const absl::Status denied =
      CheckClaim({.dns = {"node8"}, .uris = {"muster:job/r2"}}, claim);
  EXPECT_EQ(denied.code(), absl::StatusCode::kPermissionDenied);
  EXPECT_THAT(std::string(denied.message()),
              AllOf(HasSubstr("node8, muster:job/r2"), HasSubstr("node7.lab"),
                    HasSubstr("10.0.0.7"), HasSubstr("muster:job/r1")));
}

TEST(TlsNamesTest, ControlCharactersOfNamesDoNotReachMessages) {
  const CertificateNames names{.dns = {"a\n\x1b[2J"}, .uris = {"b\r"}};
  EXPECT_EQ(ToText(names), "a\\n\\033[2J, b\\r");
}

}  // namespace
}  // namespace muster::rendezvous
