// Tests of the listener with real descriptors and without gRPC.

#include "rendezvous/server/listener.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/monotonic_clock.h"
#include "base/owned_fd.h"
#include "base/poll.h"
#include "rendezvous/testing/loopback.h"

namespace muster::rendezvous {
namespace {

constexpr std::chrono::seconds kTimeout(30);
constexpr char kPreface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

int SmallestFreeDescriptor() {
  return OwnedFd(open("/dev/null", O_RDONLY | O_CLOEXEC)).get();
}

class ListenerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    options_.address = *NumericAddress("127.0.0.1", 0);
    Open();
  }
  void Open() {
    listener_.reset();
    auto opened = Listener::Listen(options_);
    ASSERT_TRUE(opened.ok()) << opened.status();
    listener_ = *std::move(opened);
    ASSERT_TRUE(listener_
                    ->Start([this](int fd) {
                      std::lock_guard<std::mutex> lock(mutex_);
                      handed_over_.emplace_back(fd);
                      changed_.notify_all();
                    })
                    .ok());
  }

  OwnedFd Dial() const {
    OwnedFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    timeval timeout = {.tv_sec = kTimeout.count(), .tv_usec = 0};
    setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
    const sockaddr_in to = Loopback(listener_->port());
    EXPECT_EQ(
        connect(fd.get(), reinterpret_cast<const sockaddr*>(&to), sizeof(to)),
        0);
    return fd;
  }
  static void Say(const OwnedFd& fd, const std::string& bytes) {
    EXPECT_EQ(send(fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }
  // Whether the listener's side has closed the connection.
  static bool IsHungUpOn(const OwnedFd& fd) {
    char byte;
    const ssize_t got = recv(fd.get(), &byte, 1, 0);
    return got == 0 || (got < 0 && errno == ECONNRESET);
  }
  // The peer name that gRPC would report for a client's socket.
  static std::string PeerOf(const OwnedFd& client) {
    return BoundAddress(client.get())->Uri();
  }
  bool AwaitHandedOver(size_t count) {
    std::unique_lock<std::mutex> lock(mutex_);
    return changed_.wait_for(lock, kTimeout,
                             [&] { return handed_over_.size() >= count; });
  }

  int HandedOver(size_t index) {
    std::lock_guard<std::mutex> lock(mutex_);
    return handed_over_[index].get();
  }
  // Reads from a descriptor that was handed over, until the peer closes it.
  static void AwaitEnd(int fd) {
    const Instant deadline = MonotonicNow() + kTimeout;
    char bytes[64];
    ssize_t got = 1;
    while (got > 0 && PollUntil(fd, POLLIN, deadline)) {
      got = recv(fd, bytes, sizeof(bytes), 0);
    }
    EXPECT_TRUE(got == 0 || (got < 0 && errno == ECONNRESET));
  }

  Listener::Options options_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<OwnedFd> handed_over_;
  std::unique_ptr<Listener> listener_;
};

TEST_F(ListenerTest, FirstBytesAreAPrefaceOrATlsHandshake) {
  const std::string preface = kPreface;
  EXPECT_EQ(JudgeFirstBytes(preface), FirstBytes::kGood);
  EXPECT_EQ(JudgeFirstBytes(preface + "more"), FirstBytes::kGood);
  EXPECT_EQ(JudgeFirstBytes("PRI"), FirstBytes::kMore);
  EXPECT_EQ(JudgeFirstBytes(""), FirstBytes::kMore);
  EXPECT_EQ(JudgeFirstBytes("\x16"), FirstBytes::kMore);
  EXPECT_EQ(JudgeFirstBytes("\x16\x03\x01"), FirstBytes::kGood);
  EXPECT_EQ(JudgeFirstBytes("\x16\x02"), FirstBytes::kBad);
  EXPECT_EQ(JudgeFirstBytes("GET / HTTP/1.1"), FirstBytes::kBad);
  EXPECT_EQ(JudgeFirstBytes("PRI * HTTP/2.1"), FirstBytes::kBad);
}

TEST_F(ListenerTest, HandsOverWhatSpeaksAndNothingElse) {
  const OwnedFd silent = Dial();
  const OwnedFd slow = Dial();
  Say(slow, "PRI * ");
  const OwnedFd wrong = Dial();
  Say(wrong, "GET / HTTP/1.1\r\n\r\n");
  EXPECT_TRUE(IsHungUpOn(wrong));
  const OwnedFd good = Dial();
  Say(good, kPreface);
  ASSERT_TRUE(AwaitHandedOver(1));
  Say(slow, std::string(kPreface).substr(6));
  ASSERT_TRUE(AwaitHandedOver(2));
  // The listener only peeked at the bytes (MSG_PEEK), so gRPC can still read
  // them.
  char bytes[sizeof(kPreface)] = {};
  EXPECT_EQ(recv(handed_over_[0].get(), bytes, sizeof(bytes), 0), 24);
  EXPECT_STREQ(bytes, kPreface);
}

TEST_F(ListenerTest, ClosesTheOldestOfTooManySilentOnes) {
  options_.limits.waiting = 4;
  Open();
  std::vector<OwnedFd> silent;
  for (int i = 0; i < 9; ++i) silent.push_back(Dial());
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(IsHungUpOn(silent[i])) << i;
  Say(silent[8], kPreface);
  EXPECT_TRUE(AwaitHandedOver(1));
}

TEST_F(ListenerTest, ShutsDownConnectionsThatItHasHandedOver) {
  options_.limits.on_trial = 8;
  Open();
  std::vector<OwnedFd> clients;
  for (int i = 0; i < 8; ++i) {
    clients.push_back(Dial());
    Say(clients.back(), kPreface);
    ASSERT_TRUE(AwaitHandedOver(i + 1));
  }
  listener_->Proved(PeerOf(clients[0]));
  for (int i = 0; i < 2; ++i) {
    clients.push_back(Dial());
    Say(clients.back(), kPreface);
  }
  ASSERT_TRUE(AwaitHandedOver(10));
  EXPECT_TRUE(IsHungUpOn(clients[1])) << "the oldest one without a call";
  Say(clients[0], "still open");
  EXPECT_FALSE(PollUntil(clients[0].get(), POLLIN, kAtOnce));
}

// The listener keeps the number of a descriptor that it has handed over to
// gRPC. gRPC closes the descriptor, and the kernel may give its number to
// another file, which the listener must not touch.
TEST_F(ListenerTest, DoesNotTouchADescriptorThatIsAnotherFileNow) {
  options_.limits.callers = 4;
  Open();
  std::vector<OwnedFd> clients;
  std::string first_peer;
  for (int i = 0; i < 4; ++i) {
    clients.push_back(Dial());
    Say(clients.back(), kPreface);
    ASSERT_TRUE(AwaitHandedOver(i + 1));
    listener_->Proved(PeerOf(clients.back()));
  }
  // Replace the first connection's descriptor by that of another socket.
  int pair[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
  const OwnedFd other(pair[0]);
  const OwnedFd far(pair[1]);
  ASSERT_EQ(dup2(other.get(), handed_over_[0].get()), handed_over_[0].get());
  for (int i = 4; i < 6; ++i) {
    clients.push_back(Dial());
    Say(clients.back(), kPreface);
    ASSERT_TRUE(AwaitHandedOver(i + 1));
    listener_->Proved(PeerOf(clients.back()));
  }
  EXPECT_TRUE(IsHungUpOn(clients[0])) << "its last descriptor was replaced";
  EXPECT_TRUE(IsHungUpOn(clients[1])) << "the oldest caller";
  EXPECT_FALSE(PollUntil(far.get(), POLLIN, kAtOnce));
}

TEST_F(ListenerTest, StandsWithoutDescriptorsAndGoesOnWithThem) {
  OwnedFd early = Dial();
  Say(early, kPreface);
  ASSERT_TRUE(AwaitHandedOver(1));
  OwnedFd client(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  rlimit before = {};
  getrlimit(RLIMIT_NOFILE, &before);
  rlimit none = before;
  none.rlim_cur = static_cast<rlim_t>(SmallestFreeDescriptor());
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  const sockaddr_in to = Loopback(listener_->port());
  ASSERT_EQ(
      connect(client.get(), reinterpret_cast<const sockaddr*>(&to), sizeof(to)),
      0);
  Say(client, kPreface);
  // The kernel has accepted the connection, but the process has no free
  // descriptor for it. So the client gets no answer, and the connection stays
  // open.
  EXPECT_FALSE(PollUntil(client.get(), POLLIN,
                         MonotonicNow() + std::chrono::milliseconds(200)));
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_TRUE(AwaitHandedOver(2));
}

TEST_F(ListenerTest, TheLastDescriptorsAreForTheRestOfTheProcess) {
  options_.max_descriptor = SmallestFreeDescriptor();
  Open();
  EXPECT_TRUE(IsHungUpOn(Dial()));
}

TEST_F(ListenerTest, StopFreesThePortAndClosesWhatWaits) {
  const OwnedFd silent = Dial();
  const int port = listener_->port();
  listener_->Stop();
  EXPECT_TRUE(IsHungUpOn(silent));
  options_.address = *NumericAddress("127.0.0.1", port);
  Open();
  EXPECT_EQ(listener_->port(), port);
}

TEST_F(ListenerTest, AWildcardAddressTakesBothFamilies) {
  options_.address = *NumericAddress("0.0.0.0", 0);
  Open();
  const OwnedFd v4 = Dial();
  Say(v4, kPreface);
  EXPECT_TRUE(AwaitHandedOver(1));
  listener_->Proved(PeerOf(v4));
  OwnedFd v6(socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const SocketAddress to = *NumericAddress("::1", listener_->port());
  if (!v6.open() || connect(v6.get(), to.get(), to.size) != 0) {
    GTEST_SKIP() << "no IPv6 here";
  }
  Say(v6, kPreface);
  EXPECT_TRUE(AwaitHandedOver(2));
}

// --- Tests of the listener's check of itself: it connects to its own port.

TEST_F(ListenerTest, AnAnswerIsALiveListener) {
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_TRUE(listener_->Check().ok());
    ASSERT_TRUE(AwaitHandedOver(i + 1));
    const char settings[] = "\0\0\0\4\0\0\0\0";
    EXPECT_GT(send(HandedOver(i), settings, sizeof(settings), MSG_NOSIGNAL), 0);
    // The bytes above are the answer for which the check waits. After it, the
    // listener closes its end of the connection to itself.
    AwaitEnd(HandedOver(i));
  }
  EXPECT_TRUE(listener_->Check().ok());
}

TEST_F(ListenerTest, WithoutAnAnswerTheListenerIsDead) {
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_TRUE(listener_->Check().ok());
    ASSERT_TRUE(AwaitHandedOver(i + 1));
    AwaitEnd(HandedOver(i));
  }
  const absl::Status status = listener_->Check();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable) << status;
}

}  // namespace
}  // namespace muster::rendezvous
