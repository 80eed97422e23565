#include "trainer_sdk/tcp/reception.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include <cerrno>
#include <chrono>
#include <string>

#include "base/monotonic_clock.h"

namespace muster {
namespace {

constexpr Duration kListenerTimeout = std::chrono::seconds(3);

sockaddr_storage Address(const char* text, in_port_t port) {
  sockaddr_storage address{};
  auto& in = reinterpret_cast<sockaddr_in&>(address);
  in.sin_family = AF_INET;
  in.sin_port = port;
  EXPECT_EQ(inet_pton(AF_INET, text, &in.sin_addr), 1);
  return address;
}

// A fixture with a listener in this process, in place of the listener of
// another rank.
class ListenerWatchTest : public testing::Test {
 protected:
  ListenerWatchTest()
      : listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)),
        address_(Address("127.0.0.1", 0)) {
    auto* const at = reinterpret_cast<sockaddr*>(&address_);
    socklen_t length = sizeof(sockaddr_in);
    EXPECT_EQ(bind(listener_.get(), at, length), 0);
    EXPECT_EQ(listen(listener_.get(), 4), 0);
    EXPECT_EQ(getsockname(listener_.get(), at, &length), 0);
  }

  ListenerWatch Watch() {
    return ListenerWatch(address_, sizeof(sockaddr_in), "rank 1",
                         kListenerTimeout, start_);
  }

  // Blocks until the watch's descriptor has an event, and calls Look again.
  absl::Status LookAgain(ListenerWatch& watch) {
    pollfd polled = watch.polled();
    EXPECT_EQ(poll(&polled, 1, 30'000), 1);
    return watch.Look(start_);
  }

  OwnedFd Accept() {
    return OwnedFd(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  }

  OwnedFd listener_;
  sockaddr_storage address_;
  const Instant start_ = MonotonicNow();
};

TEST_F(ListenerWatchTest, EndsWithTheListenerThatNeverTookIt) {
  ListenerWatch watch = Watch();
  // POLLOUT means that the watch's connection to the listener is not complete
  // yet. Wait until it is.
  if (watch.polled().events == POLLOUT) {
    EXPECT_EQ(LookAgain(watch), absl::OkStatus());
  }
  EXPECT_EQ(watch.Look(start_ + 10 * kListenerTimeout), absl::OkStatus());
  listener_.Close();
  absl::Status end;
  while (end.ok() && watch.until() == Instant::max()) end = LookAgain(watch);
  if (end.ok()) end = watch.Look(start_);
  EXPECT_TRUE(absl::IsUnavailable(end)) << end;
  EXPECT_THAT(std::string(end.message()), testing::HasSubstr("rank 1"));
}

TEST_F(ListenerWatchTest, ClosedConnectionIsDialledAgain) {
  ListenerWatch watch = Watch();
  for (int time = 0; time < 3; ++time) {
    // accept the connection that the ListenerWatch has made to its listener,
    // and close the connection at once
    ASSERT_TRUE(Accept().open());
    for (;;) {
      pollfd polled[] = {{listener_.get(), POLLIN, 0}, watch.polled()};
      ASSERT_GT(poll(polled, 2, 30'000), 0);
      ASSERT_EQ(watch.Look(start_), absl::OkStatus());
      // the listener is readable: the watch has connected again
      if (polled[0].revents != 0) break;
    }
  }
  EXPECT_TRUE(Accept().open());
  EXPECT_EQ(watch.Look(start_ + 10 * kListenerTimeout), absl::OkStatus());
}

TEST_F(ListenerWatchTest, RefusingPeerHasUntilTheTimeout) {
  listener_.Close();
  ListenerWatch watch = Watch();
  if (watch.until() == Instant::max()) {
    EXPECT_EQ(LookAgain(watch), absl::OkStatus());
  }
  ASSERT_EQ(watch.until(), start_ + kListenerTimeout);
  EXPECT_EQ(watch.polled().fd, -1);
  EXPECT_EQ(watch.Look(start_ + kListenerTimeout - Duration(1)),
            absl::OkStatus());
  EXPECT_TRUE(absl::IsUnavailable(watch.Look(start_ + kListenerTimeout)));
}

TEST_F(ListenerWatchTest, UnreachablePeerIsNotWatched) {
  // TCP cannot reach 255.255.255.255, which is a broadcast address. So the
  // watch must not watch this listener, and must never report an error.
  ListenerWatch watch(Address("255.255.255.255", htons(1)), sizeof(sockaddr_in),
                      "rank 1", kListenerTimeout, start_);
  EXPECT_EQ(watch.polled().fd, -1);
  EXPECT_EQ(watch.until(), Instant::max());
  EXPECT_EQ(watch.Look(start_ + 10 * kListenerTimeout), absl::OkStatus());
}

TEST(SocketError, ReachedLimitIsNamed) {
  EXPECT_TRUE(absl::IsResourceExhausted(SocketError("taking a call", EMFILE)));
  EXPECT_THAT(std::string(SocketError("taking a call", EMFILE).message()),
              testing::HasSubstr("ulimit -n"));
  EXPECT_TRUE(absl::IsResourceExhausted(SocketError("taking a call", ENFILE)));
  EXPECT_TRUE(absl::IsUnavailable(SocketError("taking a call", ECONNRESET)));
}

TEST(AcceptFailure, PeerErrorsAreRetriedAndOwnErrorsAreFatal) {
  EXPECT_EQ(AcceptFailureOf(EAGAIN), AcceptFailure::kNobody);
  for (const int error : {EINTR, ECONNABORTED, EPROTO, ENETDOWN, EPERM}) {
    EXPECT_EQ(AcceptFailureOf(error), AcceptFailure::kAgain) << error;
  }
  for (const int error : {EMFILE, ENFILE, ENOMEM, ENOBUFS, EBADF, EINVAL}) {
    EXPECT_EQ(AcceptFailureOf(error), AcceptFailure::kFatal) << error;
  }
}

}  // namespace
}  // namespace muster
