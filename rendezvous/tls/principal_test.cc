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

}  // namespace
}  // namespace muster::rendezvous
