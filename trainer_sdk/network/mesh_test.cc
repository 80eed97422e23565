#include "trainer_sdk/network/mesh.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>

namespace muster {
namespace {

struct Connection {
  Connection() {
    std::array<int, 2> ends{-1, -1};
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()),
              0);
    own = OwnedFd(ends[0]);
    peers = OwnedFd(ends[1]);
  }
  OwnedFd own, peers;
};

TEST(HangupWatchTest, OpenConnectionsAreNoHangup) {
  Connection connection;
  HangupWatch watch;
  watch.Add(connection.own.get());
  EXPECT_FALSE(watch.Any());
  ASSERT_EQ(write(connection.peers.get(), "data", 4), 4);
  EXPECT_FALSE(watch.Any());
}

TEST(HangupWatchTest, EachHangupIsReportedOnce) {
  std::array<Connection, 3> connections;
  HangupWatch watch;
  for (const Connection& connection : connections) {
    watch.Add(connection.own.get());
  }
  // The peer closes its connection after sending data that stays unread. The
  // close must be detected.
  ASSERT_EQ(write(connections[1].peers.get(), "data", 4), 4);
  connections[1].peers.Close();
  EXPECT_TRUE(watch.Any());
  EXPECT_FALSE(watch.Any());
  ASSERT_EQ(shutdown(connections[2].peers.get(), SHUT_RDWR), 0);
  EXPECT_TRUE(watch.Any());
  EXPECT_FALSE(watch.Any());
}

TEST(HangupWatchTest, NothingToWatchIsNoHangup) {
  HangupWatch watch;
  EXPECT_FALSE(watch.Any());
}

}  // namespace
}  // namespace muster
