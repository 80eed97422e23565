#include "base/net/resolve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <string>
#include <vector>

namespace muster {
namespace {

using ::testing::HasSubstr;

constexpr Duration kResolveTimeout = std::chrono::seconds(20);

TEST(ResolveTest, NumericAddressesAreNotLookedUp) {
  const LookUp never = [](const std::string&, int) {
    return absl::InternalError("looked up");
  };
  const auto v4 = Resolve("127.0.0.1", 80, {.look_up = never});
  ASSERT_TRUE(v4.ok()) << v4.status();
  ASSERT_EQ(v4->size(), 1u);
  EXPECT_EQ((*v4)[0].family(), AF_INET);
  EXPECT_EQ((*v4)[0].Ip(), "127.0.0.1");
  EXPECT_EQ((*v4)[0].Port(), 80);
  EXPECT_EQ((*v4)[0].Uri(), "ipv4:127.0.0.1:80");
  const auto v6 = Resolve("::1", 81, {.look_up = never});
  ASSERT_TRUE(v6.ok()) << v6.status();
  EXPECT_EQ((*v6)[0].family(), AF_INET6);
  EXPECT_EQ((*v6)[0].Ip(), "::1");
  EXPECT_EQ((*v6)[0].Port(), 81);
  EXPECT_EQ((*v6)[0].Uri(), "ipv6:%5B::1%5D:81");
}

TEST(ResolveTest, PrefersIpv4ForNames) {
  const auto found = Resolve(
      "host", 80,
      {.timeout = kResolveTimeout,
       .look_up = [](const std::string&,
                     int port) -> absl::StatusOr<std::vector<SocketAddress>> {
         return std::vector<SocketAddress>{*NumericAddress("::1", port),
                                           *NumericAddress("10.0.0.2", port),
                                           *NumericAddress("10.0.0.1", port)};
       }});
  ASSERT_TRUE(found.ok()) << found.status();
  ASSERT_EQ(found->size(), 3u);
  EXPECT_EQ((*found)[0].Ip(), "10.0.0.2");
  EXPECT_EQ((*found)[1].Ip(), "10.0.0.1");
  EXPECT_EQ((*found)[2].Ip(), "::1");
}

TEST(ResolveTest, TheSystemKnowsLocalhost) {
  const auto found = Resolve("localhost", 80, {.timeout = kResolveTimeout});
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ((*found)[0].Ip(), "127.0.0.1");
}

TEST(ResolveTest, ErrorQuotesTheResolver) {
  const auto found = Resolve(
      "no-host", 80,
      {.timeout = kResolveTimeout, .look_up = [](const std::string&, int) {
         return absl::UnavailableError("unknown here");
       }});
  EXPECT_EQ(found.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(found.status().message()),
              HasSubstr("no-host does not resolve: unknown here"));
}

TEST(ResolveTest, SeveralNamesAreLookedUpAtTheSameTime) {
  std::promise<void> last_begun;
  const auto found = ResolveAll(
      {{"slow", 80}, {"10.0.0.1", 81}, {"none", 80}, {"last", 82}},
      {.timeout = kResolveTimeout,
       .look_up = [&, begun = last_begun.get_future().share()](
                      const std::string& host,
                      int port) -> absl::StatusOr<std::vector<SocketAddress>> {
         if (host == "none") return absl::UnavailableError("unknown here");
         if (host == "last") last_begun.set_value();
         // The look-up of "slow" waits here until the look-up of "last" has
         // begun. If the names were looked up one by one, "last" would never
         // begin, and "slow" would time out.
         begun.wait();
         return std::vector<SocketAddress>{*NumericAddress("10.0.0.2", port)};
       }});
  ASSERT_EQ(found.size(), 4u);
  ASSERT_TRUE(found[0].ok()) << found[0].status();
  EXPECT_EQ(found[0]->front().Uri(), "ipv4:10.0.0.2:80");
  ASSERT_TRUE(found[1].ok()) << found[1].status();
  EXPECT_EQ(found[1]->front().Uri(), "ipv4:10.0.0.1:81");
  EXPECT_TRUE(absl::IsUnavailable(found[2].status())) << found[2].status();
  ASSERT_TRUE(found[3].ok()) << found[3].status();
  EXPECT_EQ(found[3]->front().Uri(), "ipv4:10.0.0.2:82");
}

TEST(ResolveTest, ANameWithoutAddressDoesNotResolve) {
  const auto found = Resolve(
      "empty", 80,
      {.timeout = kResolveTimeout, .look_up = [](const std::string&, int) {
         return std::vector<SocketAddress>();
       }});
  EXPECT_EQ(found.status().code(), absl::StatusCode::kUnavailable);
}

// A resolver that answers only after Finish() is called.
class SlowResolver {
 public:
  LookUp look_up() {
    return [this](const std::string&,
                  int) -> absl::StatusOr<std::vector<SocketAddress>> {
      go_on_.get_future().wait();
      over_.set_value();
      return std::vector<SocketAddress>(1);
    };
  }
  // Ends the look-up, which still runs on its thread after Resolve has
  // returned. The thread must not use data of the caller any more.
  void Finish() {
    go_on_.set_value();
    over_.get_future().wait();
  }

 private:
  std::promise<void> go_on_;
  std::promise<void> over_;
};

TEST(ResolveTest, AResolverThatDoesNotAnswerIsLeftToItself) {
  SlowResolver slow;
  const auto found = Resolve(
      "slow", 80,
      {.timeout = std::chrono::milliseconds(20), .look_up = slow.look_up()});
  EXPECT_EQ(found.status().code(), absl::StatusCode::kDeadlineExceeded);
  slow.Finish();
}

TEST(ResolveTest, StopsWaitingForAnybodyWhoHasGivenUp) {
  SlowResolver slow;
  int asked = 0;
  const auto found = Resolve("slow", 80,
                             {.timeout = std::chrono::hours(1),
                              .given_up = [&] { return ++asked > 1; },
                              .look_up = slow.look_up()});
  EXPECT_EQ(found.status().code(), absl::StatusCode::kDeadlineExceeded);
  slow.Finish();
}

TEST(SocketAddressTest, ANameIsNoAddress) {
  EXPECT_FALSE(NumericAddress("localhost", 80).has_value());
  EXPECT_FALSE(NumericAddress("", 80).has_value());
}

TEST(SocketAddressTest, HostsInBrackets) {
  EXPECT_EQ(HostPort("node-3", 29500), "node-3:29500");
  EXPECT_EQ(HostPort("::1", 29500), "[::1]:29500");
}

TEST(SocketAddressTest, TheLocalAddressIsTheOneOfTheRoute) {
  EXPECT_EQ(LocalAddressTowards(*NumericAddress("127.0.0.1", 80)), "127.0.0.1");
}

}  // namespace
}  // namespace muster
