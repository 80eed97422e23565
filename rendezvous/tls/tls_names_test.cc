#include "rendezvous/tls/tls_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::rendezvous {
namespace {

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
