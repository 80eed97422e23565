#include "rendezvous/dashboard/dashboard_access.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rendezvous/tls/token_identity.h"

namespace muster::rendezvous {
namespace {

using ::testing::HasSubstr;

constexpr char kSecret[] =
    "a secret of sixty-four characters that no one can guess at all.";
constexpr std::time_t kNow = 1'800'000'000;

TEST(DashboardAccessTest, APortAloneIsOnLoopback) {
  EXPECT_EQ(ParseDashboardEndpoint("8080")->ToString(), "127.0.0.1:8080");
  EXPECT_EQ(ParseDashboardEndpoint("0.0.0.0:8080")->ToString(), "0.0.0.0:8080");
  EXPECT_FALSE(ParseDashboardEndpoint("80800").ok());
  EXPECT_FALSE(ParseDashboardEndpoint("").ok());
}

TEST(DashboardAccessTest, ATokenKeepsTheDashboardOnThisHost) {
  const auto check = [](const char* host, std::vector<std::string> tokens) {
    return CheckDashboard({host, 8080}, tokens,
                          CallerCertificates::kNotRequired);
  };
  EXPECT_TRUE(check("127.0.0.1", {kSecret}).ok());
  EXPECT_TRUE(check("::1", {kSecret}).ok());
  EXPECT_TRUE(check("0.0.0.0", {}).ok());
  const absl::Status refused = check("0.0.0.0", {kSecret});
  EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(refused.message()), HasSubstr("0.0.0.0"));
  EXPECT_FALSE(check("node1", {kSecret}).ok());
}

TEST(DashboardAccessTest, OutputIsShownWhereOtherHostsCannotReachThePage) {
  EXPECT_EQ(OutputShownAt({"127.0.0.1", 8080}), OutputShown::kYes);
  EXPECT_EQ(OutputShownAt({"::1", 8080}), OutputShown::kYes);
  EXPECT_EQ(OutputShownAt({"0.0.0.0", 8080}), OutputShown::kNo);
  EXPECT_EQ(OutputShownAt({"node1", 8080}), OutputShown::kNo);
}

TEST(DashboardAccessTest, CertificatesWithoutATokenAreRefused) {
  EXPECT_FALSE(
      CheckDashboard({"127.0.0.1", 1}, {}, CallerCertificates::kRequired).ok());
  EXPECT_TRUE(
      CheckDashboard({"127.0.0.1", 1}, {kSecret}, CallerCertificates::kRequired)
          .ok());
}

TEST(DashboardAccessTest, OnlyNamesOfThisHostAreAnswered) {
  for (const char* own :
       {"127.0.0.1", "127.0.0.1:8080", "10.0.0.7:8080", "[::1]:8080",
        "[fd00::7]", "localhost:1", "LOCALHOST", "node1", "Node1:8080"}) {
    EXPECT_TRUE(IsOwnHost(own, {"node1", ""})) << own;
  }
  for (const std::string other :
       {"", ":8080", "evil.example", "evil.example:8080", "node1.evil.example",
        "127.0.0.1.evil.example", "[::1", "[evil.example]:1",
        std::string(100'000, '1').c_str()}) {
    EXPECT_FALSE(IsOwnHost(other, {"node1", ""})) << other.substr(0, 40);
  }
}

absl::StatusCode CodeOf(const std::string& authorization) {
  return DashboardCaller(authorization, {.tokens = {kSecret}}, kNow)
      .status()
      .code();
}

TEST(DashboardAccessTest, WithoutTokensEverybodyMayRead) {
  EXPECT_TRUE(DashboardCaller("", {}, kNow).ok());
}

TEST(DashboardAccessTest, TheSecretAndItsViewTokensMayRead) {
  EXPECT_EQ(CodeOf(std::string("Bearer ") + kSecret), absl::StatusCode::kOk);
  const std::string view = DeriveToken(kSecret, {.name = "ada",
                                                 .roles = {Role::kView},
                                                 .jobs = {"a-*"},
                                                 .expires = kNow + 60})
                               .value();
  const auto caller =
      DashboardCaller("Bearer " + view, {.tokens = {"another", kSecret}}, kNow);
  ASSERT_TRUE(caller.ok()) << caller.status();
  EXPECT_EQ(caller->name, "ada");
  EXPECT_TRUE(IncludesJob(*caller, "a-1"));
  EXPECT_FALSE(IncludesJob(*caller, "b-1"));
}

TEST(DashboardAccessTest, OthersMayNot) {
  using Code = absl::StatusCode;
  EXPECT_EQ(CodeOf(""), Code::kUnauthenticated);
  EXPECT_EQ(CodeOf(kSecret), Code::kUnauthenticated);
  EXPECT_EQ(CodeOf("Basic abc"), Code::kUnauthenticated);
  EXPECT_EQ(CodeOf("Bearer "), Code::kUnauthenticated);
  EXPECT_EQ(CodeOf("Bearer wrong"), Code::kUnauthenticated);
  EXPECT_EQ(CodeOf("Bearer muster1."), Code::kUnauthenticated);
  EXPECT_EQ(CodeOf("Bearer muster1.AAAA"), Code::kUnauthenticated);
  const auto derived = [](const std::string& secret, Role role,
                          std::time_t end) {
    return "Bearer " +
           DeriveToken(
               secret,
               {.name = "ada", .roles = {role}, .jobs = {}, .expires = end})
               .value();
  };
  EXPECT_EQ(CodeOf(derived(kSecret, Role::kView, kNow + 60)), Code::kOk);
  EXPECT_EQ(CodeOf(derived(kSecret, Role::kView, kNow - 60)),
            Code::kUnauthenticated);
  EXPECT_EQ(CodeOf(derived("another secret", Role::kView, kNow + 60)),
            Code::kUnauthenticated);
  EXPECT_EQ(CodeOf(derived(kSecret, Role::kJoin, kNow + 60)),
            Code::kPermissionDenied);
}

}  // namespace
}  // namespace muster::rendezvous
