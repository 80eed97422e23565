#include "launcher/doctor/node_probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "base/monotonic_clock.h"

namespace muster::launcher {
namespace {

using ::testing::HasSubstr;

// Binds `fd` to a free port of 127.0.0.1 and returns the port.
int Bind(const OwnedFd& fd) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  EXPECT_EQ(bind(fd.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
  EXPECT_EQ(getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size),
            0);
  return ntohs(address.sin_port);
}

Instant In(Duration timeout) { return MonotonicNow() + timeout; }

TEST(NodeProbe, ReachesAListenerAndReadsItsClock) {
  const auto listener = ProbeListener::Start();
  ASSERT_TRUE(listener.ok()) << listener.status();
  const std::vector<rendezvous::Endpoint> targets(
      5, {"127.0.0.1", (*listener)->port()});
  for (const Probe& probe : ProbeAll(targets, In(std::chrono::seconds(60)))) {
    EXPECT_EQ(probe.error, "");
    // The probe and the listener read the same clock, so the measured
    // difference is only the error of the measurement: at most the round trip.
    EXPECT_LE(std::chrono::abs(probe.clock_ahead), probe.round_trip);
  }
}

TEST(NodeProbe, ClosedSilentAndForeignPortsAreErrors) {
  const OwnedFd closed(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int closed_port = Bind(closed);
  // A listener that accepts no connection and sends nothing.
  const OwnedFd silent(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int silent_port = Bind(silent);
  ASSERT_EQ(listen(silent.get(), 8), 0);
  const auto listener = ProbeListener::Start();
  ASSERT_TRUE(listener.ok());
  const std::vector<Probe> probes =
      ProbeAll({{"127.0.0.1", closed_port},
                {"127.0.0.1", silent_port},
                {"no address", 1},
                {"127.0.0.1", (*listener)->port()}},
               In(std::chrono::seconds(2)));
  ASSERT_EQ(probes.size(), 4u);
  EXPECT_THAT(probes[0].error, HasSubstr("refused"));
  EXPECT_EQ(probes[1].error, "connected, but no answer came");
  EXPECT_THAT(probes[2].error, HasSubstr("is no address"));
  EXPECT_EQ(probes[3].error, "");
}

TEST(NodeProbe, WithoutTargetsThereAreNoResults) {
  EXPECT_TRUE(ProbeAll({}, MonotonicNow()).empty());
}

}  // namespace
}  // namespace muster::launcher
