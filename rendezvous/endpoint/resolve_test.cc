#include "rendezvous/endpoint/resolve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::rendezvous {
namespace {

using ::testing::HasSubstr;

constexpr Duration kPatience = std::chrono::seconds(20);

TEST(ResolveTest, AnswersAddressesAsTheyAre) {
  const auto v4 = Resolve({"127.0.0.1", 80}, Duration::zero());
  ASSERT_TRUE(v4.ok()) << v4.status();
  ASSERT_EQ(v4->size(), 1u);
  EXPECT_EQ((*v4)[0].Ip(), "127.0.0.1");
  EXPECT_EQ((*v4)[0].Port(), 80);
  EXPECT_EQ((*v4)[0].GrpcTarget(), "ipv4:127.0.0.1:80");
  const auto v6 = Resolve({"::1", 81}, Duration::zero());
  ASSERT_TRUE(v6.ok()) << v6.status();
  EXPECT_EQ((*v6)[0].Ip(), "::1");
  EXPECT_EQ((*v6)[0].GrpcTarget(), "ipv6:%5B::1%5D:81");
}

TEST(ResolveTest, PrefersIpv4ForNames) {
  const auto found = Resolve({"localhost", 80}, kPatience);
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ((*found)[0].Ip(), "127.0.0.1");
}

TEST(ResolveTest, SaysThatANameDoesNotResolve) {
  const auto found = Resolve({"no-such-host.invalid", 80}, kPatience);
  EXPECT_FALSE(found.ok());
  EXPECT_THAT(std::string(found.status().message()),
              HasSubstr("no-such-host.invalid"));
}

TEST(ResolveTest, DoesNotWaitBeyondItsTimeout) {
  const auto found = Resolve({"localhost", 80}, Duration::zero());
  if (!found.ok()) {
    EXPECT_EQ(found.status().code(), absl::StatusCode::kDeadlineExceeded);
  }
}

TEST(ResolveTest, StopsWaitingForAnybodyWhoHasGivenUp) {
  const auto found = Resolve({"localhost", 80}, kPatience, [] { return true; });
  if (!found.ok()) {
    EXPECT_EQ(found.status().code(), absl::StatusCode::kDeadlineExceeded);
  }
}

TEST(LocalAddressTowardsTest, IsTheOneOfTheRoute) {
  const auto loopback = Resolve({"127.0.0.1", 80}, kPatience);
  EXPECT_EQ(LocalAddressTowards((*loopback)[0]), "127.0.0.1");
}

}  // namespace
}  // namespace muster::rendezvous
