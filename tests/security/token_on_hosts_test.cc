// Tests of mutual TLS with a token between hosts in network namespaces. One of
// the hosts runs a false coordinator.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/integration/harness/subprocess.h"
#include "tests/namespaces/hosts.h"

namespace muster {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kLaunch[] = "launcher/launch";
constexpr char kToken[] = "0123456789abcdef0123456789abcdef";
constexpr int kPort = 29400;

class TokenOnHosts : public testing::Test {
 protected:
  void SetUp() override {
    auto hosts = Hosts::Make(3);
    if (!hosts.ok()) {
      GTEST_SKIP() << "hosts of their own need network namespaces and TUN "
                      "interfaces: "
                   << hosts.status();
    }
    hosts_ = *std::move(hosts);
  }

  // Starts a node on `host` for a job of `nodes` nodes. `meeting`: the number
  // of the host that the node's --rdzv-endpoint names.
  std::unique_ptr<Subprocess> Node(int host, int meeting, int nodes,
                                   const std::string& token = kToken) {
    return Start(
        host,
        {kLaunch, absl::StrCat("--nnodes=", nodes), "--rdzv-backend=c10d",
         "--rdzv-id=job",
         absl::StrCat("--rdzv-endpoint=", hosts_->Address(meeting), ":", kPort),
         "--connect-timeout=30", "--no-python", "true"},
        token);
  }

  std::unique_ptr<Subprocess> Start(int host, std::vector<std::string> argv,
                                    const std::string& token = "") {
    EXPECT_TRUE(hosts_->Enter(host).ok());
    std::map<std::string, std::string> environment = {{"COLUMNS", "200"}};
    if (!token.empty()) environment["MUSTER_TOKEN"] = token;
    return std::make_unique<Subprocess>(std::move(argv), environment);
  }

  std::unique_ptr<Hosts> hosts_;
};

TEST_F(TokenOnHosts, JobOfThreeHostsRunsAndAStrangerStaysOut) {
  const auto first = Node(0, 0, 3);
  ASSERT_TRUE(first->Printed("1 of 3 nodes")) << first->Output();
  const auto stranger = Node(2, 0, 3, "another-token-of-32-characters!!");
  EXPECT_EQ(stranger->ExitCode(), 1);
  EXPECT_THAT(stranger->Output(),
              HasSubstr("has another token than this process"));
  const auto second = Node(1, 0, 3);
  const auto third = Node(2, 0, 3);
  for (Subprocess* node : {first.get(), second.get(), third.get()}) {
    EXPECT_EQ(node->ExitCode(), 0) << node->Output();
    EXPECT_THAT(node->Output(), Not(HasSubstr("is open")));
  }
}

// A man in the middle has made a certificate for the coordinator's address. He
// records all that a node sends to him.
TEST_F(TokenOnHosts, ManInTheMiddleIsRefusedAndLearnsNothing) {
  const std::string certificate = testing::TempDir() + "false.pem";
  const std::string key = testing::TempDir() + "false.key";
  const auto make =
      Start(2, {"/usr/bin/openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=mallory",
                "-addext",
                absl::StrCat("subjectAltName=URI:muster:coordinator,IP:",
                             hosts_->Address(2)),
                "-keyout", key, "-out", certificate});
  ASSERT_EQ(make->ExitCode(), 0) << make->Output();
  const auto false_coordinator = Start(
      2, {"/usr/bin/openssl", "s_server", "-accept", absl::StrCat(kPort),
          "-www", "-msg", "-alpn", "h2", "-cert", certificate, "-key", key});
  ASSERT_TRUE(false_coordinator->Printed("ACCEPT"))
      << false_coordinator->Output();
  const auto node = Node(1, 2, 2);
  EXPECT_EQ(node->ExitCode(), 1);
  EXPECT_THAT(node->Output(),
              AllOf(HasSubstr("has another token"), HasSubstr("there")));
  EXPECT_THAT(false_coordinator->Output(), Not(HasSubstr(kToken)));
}

}  // namespace
}  // namespace muster
