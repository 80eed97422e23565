// Tests of a real rendezvousd without a token against a hostile client, which
// begins any number of jobs, or jobs that wait for ever.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/net/socket_address.h"
#include "rendezvous/client/channel.h"
#include "rendezvous/testing/scripted_node.h"
#include "tests/integration/harness/subprocess.h"
#include "tests/security/hostile_stream.h"

namespace muster::rendezvous {
namespace {

using ::testing::HasSubstr;

// Two limits of rendezvousd (docs/SECURITY.md): the number of unfinished jobs
// that one peer may have begun, and the time for which a job may wait for its
// nodes.
constexpr int kMaxJobsPerPeer = 1000;
constexpr std::chrono::hours kMaxJoinTimeout(24);

class DaemonLimits : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string serving = "listening on 127.0.0.1:";
    ASSERT_TRUE(daemon_.Printed(serving)) << daemon_.Output();
    const std::string line = daemon_.Lines(serving)[0];
    port_ = std::atoi(line.substr(line.find(serving) + serving.size()).c_str());
  }

  // Reports as the first node of a new job, returns the daemon's answer, and
  // closes the connection.
  v1::Directive Begin(const Report& report) {
    HostileStream stream(OpenChannel(*NumericAddress("127.0.0.1", port_),
                                     ClientCredentials({}, "", "127.0.0.1")));
    stream.Send(report);
    return stream.Read();
  }
  static Report Of(const std::string& run_id,
                   const std::string& host = "stranger") {
    Report report = FirstReport(run_id, host, 2);
    report.sequence = 1;
    return report;
  }

  Subprocess daemon_{{"rendezvous/daemon/rendezvousd", "--listen=127.0.0.1:0"}};
  int port_ = 0;
};

TEST_F(DaemonLimits, OneAddressHasAtMost1000UnfinishedJobs) {
  for (int i = 0; i < kMaxJobsPerPeer; ++i) {
    const v1::Directive answer = Begin(Of(absl::StrCat("job", i)));
    ASSERT_EQ(answer.kind(), v1::Directive::WAIT) << i << answer.reason();
  }
  const v1::Directive refused = Begin(Of("one-more"));
  EXPECT_EQ(refused.kind(), v1::Directive::REFUSED);
  EXPECT_THAT(refused.reason(), HasSubstr("1000 unfinished jobs were begun"));
  EXPECT_EQ(Begin(Of("job7", "another")).kind(), v1::Directive::WAIT)
      << "a known job";
}

TEST_F(DaemonLimits, AJoinTimeoutIsAtMostADay) {
  Report report = Of("job");
  report.spec.join_timeout = kMaxJoinTimeout + std::chrono::seconds(1);
  const v1::Directive refused = Begin(report);
  EXPECT_EQ(refused.kind(), v1::Directive::REFUSED);
  EXPECT_THAT(refused.reason(), HasSubstr("the join time-out is 86401 s"));
  report.spec.join_timeout = kMaxJoinTimeout;
  EXPECT_EQ(Begin(report).kind(), v1::Directive::WAIT);
}

}  // namespace
}  // namespace muster::rendezvous
