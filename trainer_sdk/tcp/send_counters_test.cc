#include "trainer_sdk/tcp/send_counters.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <vector>

#include "base/monotonic_clock.h"
#include "base/owned_fd.h"
#include "trainer_sdk/rank_time/rank_time.h"

namespace muster {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr SendCounters kBefore = {.busy = seconds(10),
                                  .receiver_limited = seconds(2),
                                  .acknowledged = 5'000'000,
                                  .rate = 1'000'000};

SendCounters After(Duration busy, Duration receiver_limited,
                   int64_t acknowledged, int64_t rate) {
  return {.busy = kBefore.busy + busy,
          .receiver_limited = kBefore.receiver_limited + receiver_limited,
          .acknowledged = kBefore.acknowledged + acknowledged,
          .rate = rate};
}

TEST(NetworkLimited, ASlowTransferTakesItsWholeTime) {
  EXPECT_EQ(NetworkLimited(kBefore,
                           After(milliseconds(900), {}, 1'000'000, 1'000'000)),
            milliseconds(900));
}

TEST(NetworkLimited, ALateAcknowledgementDoesNotCount) {
  EXPECT_EQ(NetworkLimited(
                kBefore, After(milliseconds(40), {}, 1'000'000, 1'000'000'000)),
            milliseconds(1));
}

TEST(NetworkLimited, AReceiverThatDoesNotReadDoesNotCount) {
  EXPECT_EQ(NetworkLimited(kBefore, After(milliseconds(900), milliseconds(850),
                                          1'000'000, 1'000'000)),
            milliseconds(50));
}

TEST(NetworkLimited, AnyCountersAreAccepted) {
  EXPECT_EQ(NetworkLimited(kBefore, kBefore), Duration::zero());
  EXPECT_EQ(NetworkLimited(kBefore, SendCounters()), Duration::zero());
  EXPECT_EQ(
      NetworkLimited(kBefore, After(seconds(1), seconds(2), 1'000'000, 1)),
      Duration::zero());
  EXPECT_EQ(NetworkLimited(kBefore, After(seconds(1), {}, 1'000'000, 0)),
            Duration::zero());
}

// A TCP connection from the address `from` to 127.0.0.1.
struct Connection {
  OwnedFd sender;
  OwnedFd receiver;
};

Connection Connect(const char* from) {
  OwnedFd listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
  socklen_t bytes = sizeof(address);
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  EXPECT_EQ(bind(listener.get(), any, bytes), 0);
  EXPECT_EQ(listen(listener.get(), 1), 0);
  EXPECT_EQ(getsockname(listener.get(), any, &bytes), 0);
  Connection made;
  made.sender = OwnedFd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in own{};
  own.sin_family = AF_INET;
  inet_pton(AF_INET, from, &own.sin_addr);
  EXPECT_EQ(
      bind(made.sender.get(), reinterpret_cast<sockaddr*>(&own), sizeof(own)),
      0);
  EXPECT_EQ(connect(made.sender.get(), any, bytes), 0);
  made.receiver = OwnedFd(accept(listener.get(), nullptr, nullptr));
  return made;
}

// Sends some bytes, and waits until they are received.
void Transfer(const Connection& connection) {
  std::array<char, 10'000> data{};
  ASSERT_EQ(send(connection.sender.get(), data.data(), data.size(), 0),
            std::ssize(data));
  ASSERT_EQ(
      recv(connection.receiver.get(), data.data(), data.size(), MSG_WAITALL),
      std::ssize(data));
}

TEST(ReadSendCounters, CountsWhatWasSent) {
  const Connection connection = Connect("127.0.0.2");
  const auto before = ReadSendCounters(connection.sender.get());
  if (!before.has_value()) GTEST_SKIP() << "this kernel has no such counters";
  Transfer(connection);
  const auto after = ReadSendCounters(connection.sender.get());
  ASSERT_TRUE(after.has_value());
  EXPECT_GE(after->acknowledged, before->acknowledged + 10'000);
  EXPECT_GT(after->rate, 0);
  EXPECT_FALSE(ReadSendCounters(-1).has_value());
}

std::vector<int> MeasuredPeers() {
  std::vector<int> peers;
  const RankTimes times = *RankTime::Process().Read(MonotonicNow());
  for (const LinkTime& link : times.links) {
    peers.push_back(link.peer);
  }
  return peers;
}

TEST(LinkMeter, ReportsTheLinksToOtherHostsThatHaveSent) {
  const Instant now = MonotonicNow();
  RankTime::Process().Enter(now);
  RankTime::Process().Exit(now);
  const Connection other_host = Connect("127.0.0.2");
  if (!ReadSendCounters(other_host.sender.get()).has_value()) {
    GTEST_SKIP() << "this kernel has no such counters";
  }
  const Connection same_host = Connect("127.0.0.1");
  const Connection idle = Connect("127.0.0.2");
  LinkMeter meter;
  meter.Add(3, other_host.sender.get());
  meter.Add(4, same_host.sender.get());
  meter.Add(5, idle.sender.get());
  meter.Measure(now);
  Transfer(other_host);
  Transfer(same_host);
  meter.Measure(now + LinkMeter::kInterval - milliseconds(1));
  EXPECT_EQ(MeasuredPeers(), std::vector<int>());
  meter.Measure(now + LinkMeter::kInterval);
  EXPECT_EQ(MeasuredPeers(), std::vector<int>({3}));
  EXPECT_GE(RankTime::Process().Read(MonotonicNow())->sent, 10'000);
  EXPECT_LT(RankTime::Process().Read(MonotonicNow())->sent, 20'000);
}

}  // namespace
}  // namespace muster
