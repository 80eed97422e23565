#include "trainer_sdk/network/local_address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <string>

#include "base/owned_fd.h"

namespace muster {
namespace {

using testing::HasSubstr;

TEST(LocalAddress, OfAnInterfaceByNameOrAddress) {
  EXPECT_EQ(*LocalAddress({"lo", ""}), "127.0.0.1");
  EXPECT_EQ(*LocalAddress({"127.0.0.1", ""}), "127.0.0.1");
}

TEST(LocalAddress, UnknownInterfaceErrorListsTheInterfaces) {
  const auto address = LocalAddress({"no-such", ""});
  EXPECT_TRUE(absl::IsNotFound(address.status()));
  EXPECT_THAT(std::string(address.status().message()),
              testing::AllOf(HasSubstr("'no-such'"), HasSubstr("lo"),
                             HasSubstr("MUSTER_SOCKET_IFNAME")));
}

TEST(LocalAddress, TheOneTowardsTheStoresHost) {
  EXPECT_EQ(*LocalAddress({"", "127.0.0.1"}), "127.0.0.1");
  EXPECT_TRUE(absl::IsNotFound(LocalAddress({"", "no such host"}).status()));
}

TEST(LocalAddress, TheOneTowardsAHostOfIpv6) {
  const OwnedFd fd(socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_in6 address = {};
  address.sin6_family = AF_INET6;
  address.sin6_addr = in6addr_loopback;
  if (bind(fd.get(), reinterpret_cast<const sockaddr*>(&address),
           sizeof(address)) != 0) {
    GTEST_SKIP() << "::1 cannot be bound here";
  }
  EXPECT_EQ(*LocalAddress({"", "::1"}), "::1");
}

TEST(LocalAddress, LoopbackWhereNothingIsSaid) {
  EXPECT_EQ(*LocalAddress({}), "127.0.0.1");
}

TEST(LocalAddress, OurVariableWinsOverGloos) {
  setenv("GLOO_SOCKET_IFNAME", "theirs", 1);
  setenv("MASTER_ADDR", "node0", 1);
  EXPECT_EQ(LocalAddressFromEnvironment().interface, "theirs");
  setenv("MUSTER_SOCKET_IFNAME", "ours", 1);
  EXPECT_EQ(LocalAddressFromEnvironment().interface, "ours");
  EXPECT_EQ(LocalAddressFromEnvironment().reachable_host, "node0");
}

TEST(LocalAddress, BehindARelayTheNodesOwnAddressCounts) {
  setenv("MASTER_ADDR", "127.0.0.1", 1);
  unsetenv("MUSTER_NODE_ADDRESS");
  EXPECT_EQ(LocalAddressFromEnvironment().reachable_host, "127.0.0.1");
  setenv("MUSTER_NODE_ADDRESS", "10.0.0.7", 1);
  EXPECT_EQ(LocalAddressFromEnvironment().reachable_host, "10.0.0.7");
  setenv("MASTER_ADDR", "node0", 1);
  EXPECT_EQ(LocalAddressFromEnvironment().reachable_host, "node0");
}

}  // namespace
}  // namespace muster
