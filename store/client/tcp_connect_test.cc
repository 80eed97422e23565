#include "store/client/tcp_connect.h"

#include <gtest/gtest.h>

#include <chrono>

namespace muster::store {
namespace {

using std::chrono::seconds;

TEST(TcpConnect, EveryAddressHasItsShareOfTheTime) {
  const Instant now = Instant() + seconds(100);
  const Instant deadline = now + seconds(6);
  EXPECT_EQ(ShareOf(deadline, now, 3), now + seconds(2));
  // An attempt that failed at once leaves its share to the others.
  EXPECT_EQ(ShareOf(deadline, now, 2), now + seconds(3));
  EXPECT_EQ(ShareOf(deadline, now, 1), deadline);
  EXPECT_EQ(ShareOf(now, deadline, 2), now) << "too late already";
}

TEST(TcpConnect, AddressesInBrackets) {
  EXPECT_EQ(HostPort("node-3", 29500), "node-3:29500");
  EXPECT_EQ(HostPort("::1", 29500), "[::1]:29500");
}

}  // namespace
}  // namespace muster::store
