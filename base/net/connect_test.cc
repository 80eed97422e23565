#include "base/net/connect.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <chrono>

#include "base/monotonic_clock.h"

namespace muster {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;

TEST(Connect, EveryAddressHasItsShareOfTheTime) {
  const Instant now = Instant() + seconds(100);
  const Instant deadline = now + seconds(6);
  EXPECT_EQ(ShareOf(deadline, now, 3), now + seconds(2));
  // The first of three attempts has failed at once, so two attempts are left at
  // the time `now`. Each of them gets half of the 6 s until `deadline`.
  EXPECT_EQ(ShareOf(deadline, now, 2), now + seconds(3));
  EXPECT_EQ(ShareOf(deadline, now, 1), deadline);
  EXPECT_EQ(ShareOf(now, deadline, 2), now) << "too late already";
}

TEST(Connect, ReachesAListener) {
  const OwnedFd listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const SocketAddress any_port = *NumericAddress("127.0.0.1", 0);
  ASSERT_EQ(bind(listener.get(), any_port.get(), any_port.size), 0);
  const SocketAddress address = BoundAddress(listener.get()).value();
  EXPECT_EQ(address.Ip(), "127.0.0.1");
  ASSERT_GT(address.Port(), 0);
  EXPECT_EQ(BoundAddress(-1), std::nullopt);
  const Instant deadline = MonotonicNow() + seconds(30);
  const absl::StatusOr<OwnedFd> refused =
      ConnectTcp("127.0.0.1", address.Port(), deadline);
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(refused.status().message()),
              HasSubstr(HostPort("127.0.0.1", address.Port())));
  ASSERT_EQ(listen(listener.get(), 1), 0);
  EXPECT_TRUE(ConnectTcp("127.0.0.1", address.Port(), deadline).ok());
}

TEST(Connect, ASocketThatIsConnectedToItselfIsRefused) {
  const OwnedFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const SocketAddress any_port = *NumericAddress("127.0.0.1", 0);
  ASSERT_EQ(bind(fd.get(), any_port.get(), any_port.size), 0);
  const SocketAddress own = BoundAddress(fd.get()).value();
  ASSERT_EQ(connect(fd.get(), own.get(), own.size), 0);
  EXPECT_EQ(ConnectResult(fd.get()), ECONNREFUSED);
}

}  // namespace
}  // namespace muster
