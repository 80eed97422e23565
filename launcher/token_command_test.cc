#include "launcher/token_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::launcher {
namespace {

using rendezvous::Role;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Way = TokenRequest::Way;

constexpr std::time_t kNow = 1'000'000;

absl::StatusOr<TokenRequest> Parse(const std::vector<std::string>& args) {
  return ParseTokenRequest(args, {{"MUSTER_TOKEN", "s3cret"}}, kNow, "ada");
}

TEST(TokenCommandTest, WithoutFlagsIsASecret) {
  EXPECT_EQ(Parse({})->way, Way::kSecret);
}

TEST(TokenCommandTest, FlagsMakeADerivedToken) {
  const TokenRequest request =
      Parse({"--role=view,join", "--job", "r1,a-*", "--name=bert",
             "--valid-for=12h", "--token-file=f"})
          .value();
  EXPECT_EQ(request.way, Way::kDerived);
  EXPECT_EQ(request.token_file, "f");
  EXPECT_EQ(request.grant.name, "bert");
  EXPECT_THAT(request.grant.roles, ElementsAre(Role::kJoin, Role::kView));
  EXPECT_THAT(request.grant.jobs, ElementsAre("r1", "a-*"));
  EXPECT_EQ(request.grant.expires, kNow + 12 * 3600);
}

TEST(TokenCommandTest, DefaultsAreTheUserAllRolesAllJobsNoEnd) {
  const TokenRequest request = Parse({"--token-file=f"}).value();
  EXPECT_EQ(request.way, Way::kDerived);
  EXPECT_EQ(request.grant.name, "ada");
  EXPECT_EQ(request.grant.roles, rendezvous::AllRoles());
  EXPECT_TRUE(request.grant.jobs.empty());
  EXPECT_EQ(request.grant.expires, 0);
}

TEST(TokenCommandTest, TimesHaveUnits) {
  for (const auto& [text, seconds] :
       {std::pair("45s", 45), {"90m", 5400}, {"1h", 3600}, {"2d", 172800}}) {
    EXPECT_EQ(Parse({std::string("--valid-for=") + text})->grant.expires,
              kNow + seconds);
  }
}

TEST(TokenCommandTest, MistakesAreNamed) {
  for (const auto& [args, words] :
       {std::pair(std::vector<std::string>{"--role=root"},
                  "--role=root: is no list of roles"),
        {{"--role="}, "is no list of roles"},
        {{"--job=a,,b"}, "--job=a,,b: is no list of jobs"},
        {{"--valid-for=30"}, "--valid-for=30: is no time"},
        {{"--valid-for=0d"}, "is no time"},
        {{"--valid-for=36501d"}, "is no time"},
        {{"job7"}, "job7: it has flags only"}}) {
    const auto request = Parse(args);
    EXPECT_EQ(request.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(request.status().message()), HasSubstr(words));
  }
}

TEST(TokenCommandTest, HelpIsNoToken) {
  EXPECT_EQ(Parse({"--help"})->way, Way::kHelp);
}

}  // namespace
}  // namespace muster::launcher
