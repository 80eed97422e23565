#include "rendezvous/daemon/daemon_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace muster::rendezvous {
namespace {

using ::testing::HasSubstr;

absl::StatusOr<DaemonOptions> Parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "rendezvousd");
  return ParseDaemonOptions(static_cast<int>(arguments.size()),
                            arguments.data());
}

TEST(DaemonOptionsTest, HasDefaults) {
  const auto options = Parse({});
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_EQ(options->listen.ToString(), "0.0.0.0:29400");
  EXPECT_EQ(options->keep_finished, std::chrono::minutes(10));
  EXPECT_EQ(options->token_file, "");
  EXPECT_FALSE(options->probe_listen);
  EXPECT_EQ(options->quarantine, Quarantine::kOn);
}

TEST(DaemonOptionsTest, QuarantineIsOnOrOff) {
  EXPECT_EQ(Parse({"--quarantine=on"})->quarantine, Quarantine::kOn);
  EXPECT_EQ(Parse({"--quarantine=off"})->quarantine, Quarantine::kOff);
  EXPECT_THAT(std::string(Parse({"--quarantine=0"}).status().message()),
              HasSubstr("--quarantine"));
}

TEST(DaemonOptionsTest, ReadsEveryOption) {
  const auto options = Parse({"--listen", "[::1]:0", "--token-file=/t",
                              "--keep-finished", "1.5", "--event-log", "/e",
                              "--port-file=/p", "--probe-listen=[::]:8080"});
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_EQ(options->listen.host, "::1");
  EXPECT_EQ(options->listen.port, 0);
  EXPECT_EQ(options->token_file, "/t");
  EXPECT_EQ(options->keep_finished, std::chrono::milliseconds(1500));
  EXPECT_EQ(options->event_log, "/e");
  EXPECT_EQ(options->port_file, "/p");
  ASSERT_TRUE(options->probe_listen);
  EXPECT_EQ(options->probe_listen->ToString(), "[::]:8080");
}

TEST(DaemonOptionsTest, ReadsTheOptionsOfEtcd) {
  const auto options =
      Parse({"--state=etcd://a:1,b/x", "--etcd-ca=/ca", "--etcd-cert=/c",
             "--etcd-key=/k", "--etcd-user-file=/u"});
  ASSERT_TRUE(options.ok()) << options.status();
  ASSERT_TRUE(options->etcd);
  EXPECT_EQ(options->etcd->ToString(), "etcd://a:1,b:2379/x");
  EXPECT_EQ(options->etcd->tls,
            (TlsFiles{.certificate = "/c", .key = "/k", .authority = "/ca"}));
  EXPECT_EQ(options->etcd_user_file, "/u");
}

TEST(DaemonOptionsTest, RefusesOptionsOfEtcdThatDoNotFit) {
  const struct {
    std::vector<const char*> arguments;
    const char* why;
  } cases[] = {
      {{"--state=/var/lib/muster"}, "--state: \"/var/lib/muster\" is not etcd"},
      {{"--state=etcd://a", "--state-dir=/s"}, "leave one out"},
      {{"--state=etcd://a", "--etcd-cert=/c"}, "need each other"},
      {{"--state=etcd://a", "--etcd-cert=/c", "--etcd-key=/k"}, "--etcd-ca"},
      {{"--etcd-user-file=/u"}, "need --state"},
  };
  for (const auto& [arguments, why] : cases) {
    const auto options = Parse(arguments);
    EXPECT_TRUE(absl::IsInvalidArgument(options.status()));
    EXPECT_THAT(std::string(options.status().message()), HasSubstr(why));
  }
}

TEST(DaemonOptionsTest, ShowsHelpAndVersion) {
  const auto help = Parse({"--help"});
  ASSERT_TRUE(help.ok());
  EXPECT_EQ(help->request, DaemonOptions::Request::kShow);
  EXPECT_THAT(help->text, HasSubstr("Examples:"));
  EXPECT_THAT(help->text, HasSubstr("--keep-finished"));
  const auto version = Parse({"--version"});
  ASSERT_TRUE(version.ok());
  EXPECT_THAT(version->text, HasSubstr("rendezvousd 0."));
}

TEST(DaemonOptionsTest, RefusesWhatMakesNoSense) {
  const struct {
    std::vector<const char*> arguments;
    const char* why;
  } cases[] = {
      {{"--nonsense"}, "--nonsense"},
      {{"train.py"}, "train.py"},
      {{"--listen", "node0:http"}, "--listen"},
      {{"--listen"}, "--listen"},
      {{"--probe-listen", ":80"}, "--probe-listen"},
      {{"--keep-finished", "-1"}, "--keep-finished"},
      {{"--keep-finished", "nan"}, "--keep-finished"},
      {{"--keep-finished", "soon"}, "--keep-finished"},
  };
  for (const auto& c : cases) {
    const auto options = Parse(c.arguments);
    EXPECT_EQ(options.status().code(), absl::StatusCode::kInvalidArgument);
    const std::string message(options.status().message());
    EXPECT_THAT(message, HasSubstr(c.why));
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace muster::rendezvous
