#include "trainer_sdk/progress/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <limits>
#include <string>

#include "base/monotonic_clock.h"
#include "trainer_sdk/rank_time/rank_time.h"

namespace muster {
namespace {

// Simulates the agent's socket. Receives datagrams without blocking.
class Receiver {
 public:
  explicit Receiver(const std::string& path)
      : path_(path), socket_(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.data(), path.size());
    if (path[0] == '@') address.sun_path[0] = '\0';
    EXPECT_EQ(bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address),
                   offsetof(sockaddr_un, sun_path) + path.size()),
              0)
        << std::strerror(errno);
  }
  ~Receiver() { unlink(path_.c_str()); }

  // Returns the next datagram; empty if there is none.
  std::string Next() {
    char bytes[4096];
    const ssize_t count =
        recv(socket_.get(), bytes, sizeof(bytes), MSG_DONTWAIT);
    return count < 0 ? "" : std::string(bytes, count);
  }

 private:
  const std::string path_;
  OwnedFd socket_;
};

// Returns a short path for a socket, independent of the test's folder, because
// a socket's path can have at most 107 bytes.
std::string SocketPath(const char* name) {
  return std::filesystem::temp_directory_path() /
         (std::string("muster_progress_") + name + std::to_string(getpid()));
}

TEST(Progress, ReachesTheAgent) {
  Receiver agent(SocketPath("reach"));
  Progress progress(SocketPath("reach"));
  progress.Send({.step = 7, .loss = 0.5});
  progress.Alive();
  EXPECT_EQ(agent.Next(), "STEP=7\nLOSS=0.5\n");
  EXPECT_EQ(agent.Next(), "WATCHDOG=1\n");
  EXPECT_EQ(agent.Next(), "");
  EXPECT_EQ(progress.dropped(), 0);
}

TEST(Progress, ReachesAnAbstractSocket) {
  const std::string path = "@muster_progress_" + std::to_string(getpid());
  Receiver agent(path);
  Progress progress(path);
  progress.Send({.step = 1});
  EXPECT_EQ(agent.Next(), "STEP=1\n");
}

TEST(Progress, WithoutAnAgentEverythingIsDropped) {
  const std::string too_long(200, 'p');
  for (const std::string& path :
       {std::string(), std::string("/nonexistent"), too_long}) {
    Progress progress(path);
    progress.Send({.step = 1});
    EXPECT_EQ(progress.dropped(), 1) << path;
  }
}

TEST(Progress, AFullSocketDropsAndDoesNotWait) {
  Receiver agent(SocketPath("full"));
  Progress progress(SocketPath("full"));
  // More datagrams than any setting of net.unix.max_dgram_qlen allows to be
  // queued.
  constexpr int kSent = 100000;
  for (int step = 0; step < kSent; ++step) progress.Send({.step = step});
  EXPECT_GT(progress.dropped(), 0);
  int received = 0;
  while (!agent.Next().empty()) ++received;
  EXPECT_EQ(received, kSent - progress.dropped());
  progress.Send({.step = kSent});
  EXPECT_EQ(agent.Next(), "STEP=100000\n");
}

TEST(Progress, FindsAnAgentThatCameBack) {
  Progress progress(SocketPath("back"));
  progress.Send({.step = 1});
  Receiver agent(SocketPath("back"));
  progress.Send({.step = 2});
  EXPECT_EQ(agent.Next(), "STEP=2\n");
}

TEST(ProgressMessage, SaysWhatIsSet) {
  EXPECT_EQ(ProgressMessage({.step = 1200}), "STEP=1200\n");
  EXPECT_EQ(ProgressMessage({.step = 0, .loss = 2.31}), "STEP=0\nLOSS=2.31\n");
  EXPECT_EQ(ProgressMessage({.loss = -1e-12, .tokens_per_second = 51000}),
            "LOSS=-1e-12\nTOKENS_PER_S=51000\n");
}

TEST(ProgressMessage, TimesAreInNanoseconds) {
  const RankTimes times{.own = std::chrono::milliseconds(3),
                        .blocked = std::chrono::microseconds(2),
                        .data = std::chrono::nanoseconds(1)};
  EXPECT_EQ(ProgressMessage({.times = times}),
            "OWN_NS=3000000\nBLOCKED_NS=2000\nDATA_NS=1\n");
  const RankTimes linked{.links = {{.peer = 3, .limited = Duration(70)},
                                   {.peer = 11, .limited = Duration(0)}},
                         .sent = 900};
  EXPECT_EQ(ProgressMessage({.times = linked}),
            "OWN_NS=0\nBLOCKED_NS=0\nLINKS_NS=3:70,11:0\nSENT_BYTES=900\n");
  EXPECT_EQ(ProgressMessage({.times = RankTimes()}),
            "OWN_NS=0\nBLOCKED_NS=0\n");
}

TEST(Progress, AStepTakesTheMeasuredTimesAlong) {
  Receiver agent(SocketPath("times"));
  Progress progress(SocketPath("times"));
  const Instant now = MonotonicNow();
  RankTime::Process().Enter(now);
  RankTime::Process().Exit(now);
  progress.Send({.step = 8});
  EXPECT_THAT(agent.Next(),
              ::testing::MatchesRegex("STEP=8\nOWN_NS=[0-9]+\nBLOCKED_NS=0\n"));
  progress.Send({.loss = 0.5});
  EXPECT_EQ(agent.Next(), "LOSS=0.5\n");
  // A program that reports no steps must still report its times. ReportRankTime
  // sends them to the socket that MUSTER_PROGRESS_SOCKET names.
  setenv("MUSTER_PROGRESS_SOCKET", SocketPath("times").c_str(), 1);
  ReportRankTime(MonotonicNow());
  EXPECT_THAT(agent.Next(),
              ::testing::MatchesRegex("OWN_NS=[0-9]+\nBLOCKED_NS=0\n"));
  // After Stop, a report of a step must contain no times.
  RankTime::Process().Stop();
  progress.Send({.step = 9});
  EXPECT_EQ(agent.Next(), "STEP=9\n");
}

TEST(ProgressMessage, AnEmptyUpdateIsASignOfLife) {
  EXPECT_EQ(ProgressMessage({}), "WATCHDOG=1\n");
}

TEST(ProgressMessage, AWatchdogIsInSecondsAndZeroTurnsItOff) {
  EXPECT_EQ(ProgressMessage({.watchdog = std::chrono::seconds(30)}),
            "WATCHDOG_S=30\n");
  EXPECT_EQ(ProgressMessage({.watchdog = std::chrono::milliseconds(1500)}),
            "WATCHDOG_S=1.5\n");
  EXPECT_EQ(ProgressMessage({.watchdog = Duration::zero()}), "WATCHDOG_S=0\n");
}

TEST(ProgressMessage, ACheckpointBeginsAndEnds) {
  EXPECT_EQ(ProgressMessage({.checkpoint = true}), "CHECKPOINT=1\n");
  EXPECT_EQ(ProgressMessage({.checkpoint = false}), "CHECKPOINT=0\n");
}

TEST(ProgressMessage, ALossThatIsNoNumberIsStillSaid) {
  EXPECT_EQ(ProgressMessage({.loss = std::numeric_limits<double>::infinity()}),
            "LOSS=inf\n");
  EXPECT_EQ(ProgressMessage({.loss = std::numeric_limits<double>::quiet_NaN()}),
            "LOSS=nan\n");
}

TEST(ProgressMessage, AStatusCannotSmuggleKeys) {
  EXPECT_EQ(ProgressMessage({.status = "saving\nSTEP=9\r"}),
            "STATUS=saving STEP=9 \n");
}

TEST(ProgressMessage, ALongStatusIsCutBetweenCharacters) {
  const std::string line =
      ProgressMessage({.status = std::string(255, 'a') + "\xC3\xA9 and more"});
  EXPECT_EQ(line, "STATUS=" + std::string(255, 'a') + "\n");
}

}  // namespace
}  // namespace muster
