#include "store/relay/resolve_host.h"

#include <gtest/gtest.h>
#include <netinet/in.h>

#include <future>
#include <string>
#include <vector>

#include "base/monotonic_clock.h"

namespace muster::store {
namespace {

Instant In(Duration duration) { return MonotonicNow() + duration; }

TEST(ResolveHostTest, NumericAddressesAreNotLookedUp) {
  const LookUp never = [](const std::string&, int) {
    return absl::InternalError("looked up");
  };
  const auto v4 = ResolveHost("127.0.0.1", 29500, Instant(), never);
  ASSERT_TRUE(v4.ok()) << v4.status();
  ASSERT_EQ(v4->size(), 1);
  EXPECT_EQ((*v4)[0].family(), AF_INET);
  const auto& in = reinterpret_cast<const sockaddr_in&>((*v4)[0].storage);
  EXPECT_EQ(ntohs(in.sin_port), 29500);
  EXPECT_EQ(ntohl(in.sin_addr.s_addr), INADDR_LOOPBACK);
  const auto v6 = ResolveHost("::1", 29500, Instant(), never);
  ASSERT_TRUE(v6.ok()) << v6.status();
  EXPECT_EQ((*v6)[0].family(), AF_INET6);
}

TEST(ResolveHostTest, ANameIsLookedUp) {
  const auto found = ResolveHost("localhost", 1, In(std::chrono::seconds(30)));
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_FALSE(found->empty());
}

TEST(ResolveHostTest, WhatTheResolverSaysIsTheError) {
  const auto found =
      ResolveHost("no-host", 1, In(std::chrono::seconds(30)),
                  [](const std::string& host, int) {
                    return absl::InvalidArgumentError(host + " is unknown");
                  });
  EXPECT_EQ(found.status(), absl::InvalidArgumentError("no-host is unknown"));
}

TEST(ResolveHostTest, AResolverThatDoesNotAnswerIsLeftToItself) {
  std::promise<void> go_on;
  std::promise<void> over;
  const auto found = ResolveHost(
      "slow-host", 1, In(std::chrono::milliseconds(20)),
      [&](const std::string&, int) -> absl::StatusOr<std::vector<HostAddress>> {
        go_on.get_future().wait();
        over.set_value();
        return std::vector<HostAddress>(1);
      });
  EXPECT_EQ(found.status().code(), absl::StatusCode::kDeadlineExceeded);
  go_on.set_value();
  // The abandoned thread still owns all data that it uses.
  over.get_future().wait();
}

}  // namespace
}  // namespace muster::store
