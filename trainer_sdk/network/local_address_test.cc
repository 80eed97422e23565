#include "trainer_sdk/network/local_address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace muster {
namespace {

using testing::HasSubstr;

TEST(LocalAddress, OfAnInterfaceByNameOrAddress) {
  EXPECT_EQ(*LocalAddress({"lo", ""}), "127.0.0.1");
  EXPECT_EQ(*LocalAddress({"127.0.0.1", ""}), "127.0.0.1");
}

TEST(LocalAddress, AnUnknownInterfaceIsToldWithThoseThereAre) {
  const auto address = LocalAddress({"no-such", ""});
  EXPECT_TRUE(absl::IsNotFound(address.status()));
  EXPECT_THAT(std::string(address.status().message()),
              testing::AllOf(HasSubstr("'no-such'"), HasSubstr("lo"),
                             HasSubstr("MUSTER_SOCKET_IFNAME")));
}

TEST(LocalAddress, TheOneTowardsTheStoresHost) {
  EXPECT_EQ(*LocalAddress({"", "127.0.0.1"}), "127.0.0.1");
  EXPECT_EQ(*LocalAddress({"", "::1"}), "::1");
  EXPECT_TRUE(absl::IsNotFound(LocalAddress({"", "no such host"}).status()));
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

}  // namespace
}  // namespace muster
