#include "store/relay/upstream_connection.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <memory>
#include <vector>

#include "base/monotonic_clock.h"
#include "base/net/socket_address.h"
#include "base/owned_fd.h"
#include "base/time.h"
#include "store/server/listening_socket.h"
#include "store/server/store_server.h"

namespace muster::store {
namespace {

SocketAddress Local(int port) {
  return NumericAddress("127.0.0.1", port).value();
}

class UpstreamConnectionTest : public testing::Test {
 protected:
  UpstreamConnectionTest() : server_(*StoreServer::Start({})) {}

  // Connects to `first` or else to the server. The server is listed 39 times,
  // so that `first` gets half a second of the 20 s.
  absl::StatusOr<OwnedFd> ConnectAfter(const SocketAddress& first) {
    std::vector<SocketAddress> addresses(40, Local(server_->port()));
    addresses[0] = first;
    return ConnectUpstream(addresses,
                           MonotonicNow() + std::chrono::seconds(20));
  }

  const std::unique_ptr<StoreServer> server_;
};

TEST_F(UpstreamConnectionTest, AnAddressThatRefusesIsPassedOver) {
  auto closed = ListenOn("127.0.0.1", 0);
  const SocketAddress refusing = Local(*LocalPort(*closed));
  closed->Close();
  const auto fd = ConnectUpstream({refusing, Local(server_->port())},
                                  MonotonicNow() + std::chrono::seconds(30));
  EXPECT_TRUE(fd.ok()) << fd.status();
}

// A listener that never accepts lets the kernel complete connections, but sends
// nothing.
TEST_F(UpstreamConnectionTest, AnAddressThatIsSilentLeavesTimeForTheNext) {
  const auto silent = ListenOn("127.0.0.1", 0);
  const auto fd = ConnectAfter(Local(*LocalPort(*silent)));
  EXPECT_TRUE(fd.ok()) << fd.status();
}

// With a full backlog the kernel does not answer connection attempts.
TEST_F(UpstreamConnectionTest, ABlackHoleLeavesTimeForTheNext) {
  const auto full = ListenOn("127.0.0.1", 0);
  ASSERT_EQ(listen(full->get(), 0), 0);
  const SocketAddress hole = Local(*LocalPort(*full));
  std::vector<OwnedFd> fill;
  for (int i = 0; i < 4; ++i) {
    fill.emplace_back(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0));
    // Those beyond the backlog stay pending for ever.
    static_cast<void>(connect(fill.back().get(), hole.get(), hole.size));
  }
  const auto fd = ConnectAfter(hole);
  EXPECT_TRUE(fd.ok()) << fd.status();
}

TEST_F(UpstreamConnectionTest, SaysWhatTheLastOneSaid) {
  const auto silent = ListenOn("127.0.0.1", 0);
  const auto fd =
      ConnectUpstream({Local(*LocalPort(*silent))},
                      MonotonicNow() + std::chrono::milliseconds(20));
  EXPECT_EQ(fd.status().code(), absl::StatusCode::kDeadlineExceeded);
}

}  // namespace
}  // namespace muster::store
