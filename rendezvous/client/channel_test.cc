#include "rendezvous/client/channel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace muster::rendezvous {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::Not;

std::string Explained(const absl::Status& status, absl::StatusCode code) {
  const absl::Status explained = ExplainCallError(status, "node0:29400");
  EXPECT_EQ(explained.code(), code) << explained;
  return std::string(explained.message());
}

TEST(CallErrorTest, SaysWhyTheCoordinatorWasNotReached) {
  const struct {
    const char* words;  // the error message as gRPC returns it
    const char* meaning;
  } cases[] = {
      {"failed to connect to all addresses; last error: UNKNOWN: "
       "ipv4:127.0.0.1:44275: Failed to connect to remote host: Connection "
       "refused",
       "connection refused"},
      {"last error: UNKNOWN: ipv4:10.0.0.1:1: tcp handshaker shutdown",
       "firewall"},
      {"connection attempt timed out before receiving SETTINGS frame",
       "does not answer"},
      {"keepalive watchdog timeout", "stopped answering"},
      {"Socket closed", "closed the connection"},
      {"Cancelling all calls", "closed the connection"},
      {"what nobody foresaw", "what nobody foresaw"},
  };
  for (const auto& c : cases) {
    const std::string text = Explained(absl::UnavailableError(c.words),
                                       absl::StatusCode::kUnavailable);
    EXPECT_THAT(text, HasSubstr(c.meaning));
    EXPECT_THAT(text, HasSubstr("node0:29400"));
  }
}

TEST(CallErrorTest, KnowsStrangers) {
  for (const absl::Status& status : {
           absl::UnavailableError("Trying to connect an http1.x server"),
           absl::UnavailableError("ipv4:127.0.0.1:1: Failed parsing HTTP/2"),
       }) {
    EXPECT_THAT(Explained(status, absl::StatusCode::kFailedPrecondition),
                HasSubstr("node0:29400 is not a Muster coordinator"));
  }
  EXPECT_THAT(Explained(absl::UnimplementedError(""),
                        absl::StatusCode::kFailedPrecondition),
              HasSubstr("node0:29400 does not know this call"));
}

TEST(CallErrorTest, SaysWhereATokenComesFrom) {
  EXPECT_THAT(Explained(absl::UnauthenticatedError("wrong job token"),
                        absl::StatusCode::kUnauthenticated),
              HasSubstr("wrong job token; give the coordinator's own by "
                        "MUSTER_TOKEN or --token-file"));
}

TEST(CallErrorTest, TheCoordinatorsOwnAnswersStayAsTheyAre) {
  EXPECT_EQ(Explained(absl::NotFoundError("no job \"x\" here"),
                      absl::StatusCode::kNotFound),
            "no job \"x\" here");
}

TEST(KeepAliveTest, ALostMachineIsNoticedSoonInAllButTheLargestJobs) {
  const auto longest = [](int max_nodes) {
    const KeepAlive keep_alive = KeepAliveOfHosted(max_nodes);
    return keep_alive.interval + keep_alive.timeout;
  };
  EXPECT_EQ(longest(3), milliseconds(2500));
  EXPECT_EQ(longest(kMaxCloselyWatching), milliseconds(2500));
  EXPECT_EQ(longest(kMaxCloselyWatching + 1), seconds(5));
}

constexpr Instant kStart = Instant(seconds(1000));

std::vector<int> Milliseconds(RetryPace* pace, Instant now, int failures) {
  std::vector<int> waits;
  for (int i = 0; i < failures; ++i) {
    waits.push_back(pace->AfterFailure(now) / milliseconds(1));
  }
  return waits;
}

TEST(RetryPaceTest, IsQuickWhileTheCoordinatorMayJustBeStarting) {
  RetryPace pace(kStart);
  EXPECT_EQ(Milliseconds(&pace, kStart, 7),
            (std::vector<int>{5, 10, 20, 40, 80, 100, 100}));
}

TEST(RetryPaceTest, SlowsDownAfterTheStart) {
  RetryPace pace(kStart);
  Milliseconds(&pace, kStart, 20);
  EXPECT_EQ(Milliseconds(&pace, kStart + seconds(10), 5),
            (std::vector<int>{200, 400, 800, 1000, 1000}));
}

TEST(RetryPaceTest, ABrokenStreamIsMadeAgainAtOnceAndThenMoreSlowly) {
  RetryPace pace(kStart);
  Milliseconds(&pace, kStart, 7);
  EXPECT_EQ(pace.AfterStream(kStart + seconds(5), seconds(4)),
            Duration::zero());
  EXPECT_EQ(Milliseconds(&pace, kStart + milliseconds(9999), 4),
            (std::vector<int>{50, 100, 200, 200}))
      << "another coordinator may be taking over";
  EXPECT_EQ(Milliseconds(&pace, kStart + seconds(10), 4),
            (std::vector<int>{400, 800, 1000, 1000}));
}

TEST(RetryPaceTest, ACoordinatorThatBreaksEveryStreamIsNotHammered) {
  RetryPace pace(kStart);
  EXPECT_EQ(pace.AfterStream(kStart, milliseconds(3)), milliseconds(50));
  EXPECT_EQ(pace.AfterStream(kStart, milliseconds(3)), milliseconds(100));
}

}  // namespace
}  // namespace muster::rendezvous
