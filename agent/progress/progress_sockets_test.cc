#include "agent/progress/progress_sockets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <fstream>

namespace muster::agent {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

// A simulated worker that sends datagrams to its agent.
class Sender {
 public:
  explicit Sender(const std::string& path)
      : socket_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0)) {
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof(address.sun_path) - 1);
    connected_ = connect(socket_.get(), reinterpret_cast<sockaddr*>(&address),
                         sizeof(address)) == 0;
  }
  // Sends a datagram. Returns false if the socket is full.
  bool Send(const std::string& datagram) {
    return send(socket_.get(), datagram.data(), datagram.size(), 0) >= 0;
  }
  bool connected() const { return connected_; }

 private:
  OwnedFd socket_;
  bool connected_ = false;
};

class ProgressSocketsTest : public ::testing::Test {
 protected:
  void Open(int round, int workers) {
    const absl::Status opened = sockets_.Open(now_, round, workers);
    ASSERT_TRUE(opened.ok()) << opened;
  }
  bool Readable() {
    pollfd fd = {sockets_.fd(), POLLIN, 0};
    return poll(&fd, 1, 0) == 1;
  }

  Instant now_{std::chrono::hours(1)};
  ProgressSockets sockets_{::testing::TempDir()};
};

TEST_F(ProgressSocketsTest, EachWorkerIsKnownByItsSocket) {
  Open(1, 3);
  EXPECT_FALSE(Readable());
  Sender(sockets_.PathOf(2)).Send("STEP=12\nLOSS=0.5");
  Sender(sockets_.PathOf(0)).Send("STEP=11");
  EXPECT_TRUE(Readable());
  const auto said = sockets_.Take(now_);
  ASSERT_EQ(said.size(), 2u);
  EXPECT_EQ(said[0].local_rank, 0);
  EXPECT_EQ(said[0].message.step, 11);
  EXPECT_EQ(said[1].local_rank, 2);
  EXPECT_EQ(said[1].message.step, 12);
  EXPECT_FALSE(Readable());
  EXPECT_THAT(sockets_.Take(now_), IsEmpty());
}

TEST_F(ProgressSocketsTest, SeveralDatagramsAreOneNews) {
  Open(1, 1);
  Sender worker(sockets_.PathOf(0));
  worker.Send("STEP=1\nLOSS=2");
  worker.Send("STEP=2");
  const auto said = sockets_.Take(now_);
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(said[0].message.step, 2);
  EXPECT_EQ(said[0].message.loss, 2);
}

TEST_F(ProgressSocketsTest, TimesAloneAreNews) {
  Open(1, 1);
  Sender(sockets_.PathOf(0)).Send("OWN_NS=5\nBLOCKED_NS=6");
  const auto said = sockets_.Take(now_);
  ASSERT_EQ(said.size(), 1u);
  EXPECT_FALSE(said[0].message.alive);
  EXPECT_EQ(said[0].message.own, Duration(5));
}

TEST_F(ProgressSocketsTest, OnlyThisUserCanEnter) {
  Open(1, 1);
  const std::string path = sockets_.PathOf(0);
  struct stat info;
  ASSERT_EQ(stat(path.substr(0, path.rfind('/')).c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0700u);
}

TEST_F(ProgressSocketsTest, ANewRoundHasNewSockets) {
  Open(1, 2);
  const std::string old_path = sockets_.PathOf(0);
  Sender old_worker(old_path);
  ASSERT_TRUE(old_worker.Send("STEP=99"));
  Open(2, 1);
  EXPECT_THAT(sockets_.Take(now_), IsEmpty());
  EXPECT_FALSE(old_worker.Send("STEP=100"));
  EXPECT_FALSE(Sender(old_path).connected());
  EXPECT_NE(sockets_.PathOf(0), old_path);
  EXPECT_EQ(sockets_.PathOf(1), "");
}

TEST_F(ProgressSocketsTest, NothingIsLeftBehind) {
  std::string path;
  {
    ProgressSockets sockets(::testing::TempDir());
    ASSERT_TRUE(sockets.Open(now_, 1, 2).ok());
    path = sockets.PathOf(1);
    EXPECT_EQ(access(path.c_str(), F_OK), 0);
  }
  EXPECT_NE(access(path.substr(0, path.rfind('/')).c_str(), F_OK), 0);
}

TEST_F(ProgressSocketsTest, AFolderWithTooLongANameIsNotUsed) {
  ProgressSockets sockets("/tmp/" + std::string(100, 'x'));
  ASSERT_TRUE(sockets.Open(now_, 1, 1).ok());
  EXPECT_THAT(sockets.PathOf(0), StartsWith("/tmp/muster-"));
}

TEST_F(ProgressSocketsTest, WithoutAFolderThereAreNone) {
  ProgressSockets sockets("/proc/no");
  const absl::Status opened = sockets.Open(now_, 1, 1);
  EXPECT_EQ(opened.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(opened.message()),
              HasSubstr("workers cannot report progress: /proc/no/muster-"));
  EXPECT_EQ(sockets.PathOf(0), "");
  EXPECT_THAT(sockets.Take(now_), IsEmpty());
}

TEST_F(ProgressSocketsTest, InvalidDatagramsAreIgnored) {
  Open(1, 1);
  Sender worker(sockets_.PathOf(0));
  for (const std::string& datagram :
       {std::string(), std::string(100'000, 'A'), std::string("\0\xff=\n", 4),
        "STEP=1\n" + std::string(50'000, '\n')}) {
    worker.Send(datagram);
  }
  const auto said = sockets_.Take(now_);
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(said[0].message.step, 1);
}

// Sends until the socket is full; returns the number of datagrams.
int Flood(Sender& worker) {
  int sent = 0;
  while (worker.Send("STEP=1")) ++sent;
  return sent;
}

// Returns how many datagrams a Unix socket of this machine queues: one more
// than net.unix.max_dgram_qlen (unix_recvq_full in Linux' net/unix/af_unix.c).
int MaxQueued() {
  int limit = 0;
  std::ifstream("/proc/sys/net/unix/max_dgram_qlen") >> limit;
  return limit + 1;
}

TEST_F(ProgressSocketsTest, AFloodIsReadNoFasterThanItsShare) {
  Open(1, 2);
  Sender flooder(sockets_.PathOf(0));
  int sent = 0;
  for (int turn = 0; turn < 1000; ++turn) {
    sent += Flood(flooder);
    sockets_.Take(now_);
  }
  // The clock stood still, so all calls of Take together have read only a burst
  // of kBurst datagrams. At most MaxQueued() further datagrams wait in the
  // socket. `sent` counts both.
  EXPECT_GE(sent, ProgressSockets::kBurst);
  EXPECT_LE(sent, ProgressSockets::kBurst + MaxQueued());
  // A paused socket does not make fd() readable; NextTake returns the time to
  // read it again.
  EXPECT_FALSE(Readable());
  ASSERT_TRUE(sockets_.NextTake().has_value());
  EXPECT_GT(*sockets_.NextTake(), now_);
  EXPECT_LT(*sockets_.NextTake(), now_ + milliseconds(100));
  // While one worker floods its socket, another worker's reports are read as
  // usual.
  Sender(sockets_.PathOf(1)).Send("STEP=5");
  const auto said = sockets_.Take(now_);
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(said[0].local_rank, 1);
}

TEST_F(ProgressSocketsTest, AfterAWhileAFlooderIsReadAgain) {
  Open(1, 1);
  Sender flooder(sockets_.PathOf(0));
  for (int turn = 0; turn < 1000; ++turn) {
    Flood(flooder);
    sockets_.Take(now_);
  }
  now_ = *sockets_.NextTake();
  EXPECT_EQ(sockets_.Take(now_).size(), 1u);
  now_ += seconds(1);
  sockets_.Take(now_);
  EXPECT_FALSE(sockets_.NextTake().has_value());
  EXPECT_GT(Flood(flooder), 0);
  EXPECT_TRUE(Readable());
}

}  // namespace
}  // namespace muster::agent
