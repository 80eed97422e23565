#include "agent/ports/port_reservation.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <set>

#ifndef IP_LOCAL_PORT_RANGE
// Linux headers before 6.3 do not define this socket option.
#define IP_LOCAL_PORT_RANGE 51
#endif

namespace muster::agent {
namespace {

using Sharing = PortReservation::Sharing;

enum class Reuse { kNo, kYes };

OwnedFd Socket(int family, Reuse reuse) {
  OwnedFd fd(socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = reuse == Reuse::kYes ? 1 : 0;
  setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  const int off = 0;
  setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  return fd;
}

// Binds the socket to `port` at all addresses of the address family; returns 0
// or an errno.
int Bind(const OwnedFd& fd, int family, int port) {
  sockaddr_in6 six = {};
  six.sin6_family = AF_INET6;
  six.sin6_port = htons(static_cast<uint16_t>(port));
  sockaddr_in four = {};
  four.sin_family = AF_INET;
  four.sin_port = six.sin6_port;
  const int rc =
      family == AF_INET6
          ? bind(fd.get(), reinterpret_cast<sockaddr*>(&six), sizeof six)
          : bind(fd.get(), reinterpret_cast<sockaddr*>(&four), sizeof four);
  return rc == 0 ? 0 : errno;
}

class PortReservationOf : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    if (!Socket(GetParam(), Reuse::kNo).open()) {
      GTEST_SKIP() << "this host has no such address family";
    }
  }
};

TEST_P(PortReservationOf, AServerThatReusesAddressesListensOnThePort) {
  const auto reservation = PortReservation::Take(Sharing::kWithServers);
  ASSERT_TRUE(reservation.ok()) << reservation.status();
  const OwnedFd server = Socket(GetParam(), Reuse::kYes);
  ASSERT_EQ(Bind(server, GetParam(), reservation->port()), 0);
  ASSERT_EQ(listen(server.get(), 16), 0);
  // The reservation's socket is bound to the same port, but does not listen. So
  // a client that connects to the port must reach the server.
  const OwnedFd client = Socket(AF_INET, Reuse::kNo);
  sockaddr_in to = {};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<uint16_t>(reservation->port()));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(
      connect(client.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to),
      0);
  EXPECT_TRUE(OwnedFd(accept(server.get(), nullptr, nullptr)).open());
}

TEST_P(PortReservationOf, AnUnsharedPortIsBoundByNoOther) {
  auto reservation = PortReservation::Take(Sharing::kNone);
  ASSERT_TRUE(reservation.ok()) << reservation.status();
  const int port = reservation->port();
  for (const Reuse reuse : {Reuse::kNo, Reuse::kYes}) {
    EXPECT_EQ(Bind(Socket(GetParam(), reuse), GetParam(), port), EADDRINUSE);
  }
  reservation->Share();
  const OwnedFd server = Socket(GetParam(), Reuse::kYes);
  ASSERT_EQ(Bind(server, GetParam(), port), 0);
  EXPECT_EQ(listen(server.get(), 16), 0);
}

// A server can bind the reserved port on one address, although the reservation
// has bound the port on all addresses.
TEST(PortReservation, ASharedPortIsBoundOnOneAddress) {
  auto reservation = PortReservation::Take(Sharing::kNone);
  ASSERT_TRUE(reservation.ok()) << reservation.status();
  reservation->Share();
  const OwnedFd server = Socket(AF_INET, Reuse::kYes);
  sockaddr_in at = {};
  at.sin_family = AF_INET;
  at.sin_port = htons(static_cast<uint16_t>(reservation->port()));
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(
      bind(server.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at), 0);
  EXPECT_EQ(listen(server.get(), 16), 0);
}

TEST_P(PortReservationOf, KernelAssignsThePortToNoOther) {
  const auto reservation = PortReservation::Take(Sharing::kWithServers);
  ASSERT_TRUE(reservation.ok());
  const auto port = static_cast<uint32_t>(reservation->port());
  // A range of ephemeral ports that contains only the reserved port. If a
  // socket with this range asks for any free port, the kernel must refuse.
  const uint32_t only = port << 16 | port;
  for (const Reuse reuse : {Reuse::kNo, Reuse::kYes}) {
    const OwnedFd other = Socket(GetParam(), reuse);
    if (setsockopt(other.get(), IPPROTO_IP, IP_LOCAL_PORT_RANGE, &only,
                   sizeof only) != 0) {
      GTEST_SKIP() << "this kernel cannot narrow a socket's port range";
    }
    EXPECT_EQ(Bind(other, GetParam(), 0), EADDRINUSE);
  }
}

TEST_P(PortReservationOf, ThePortIsFreeAfterwards) {
  auto reservation = PortReservation::Take(Sharing::kWithServers);
  ASSERT_TRUE(reservation.ok());
  const int port = reservation->port();
  { const PortReservation gone = *std::move(reservation); }
  EXPECT_EQ(Bind(Socket(GetParam(), Reuse::kNo), GetParam(), port), 0);
}

INSTANTIATE_TEST_SUITE_P(Families, PortReservationOf,
                         ::testing::Values(AF_INET, AF_INET6),
                         [](const auto& family) {
                           return family.param == AF_INET ? "Ip4" : "Ip6";
                         });

TEST(PortReservation, EveryOneHasAPortOfItsOwn) {
  std::vector<PortReservation> held;
  std::set<int> ports;
  for (int i = 0; i < 100; ++i) {
    auto one = PortReservation::Take(Sharing::kWithServers);
    ASSERT_TRUE(one.ok());
    ports.insert(one->port());
    held.push_back(*std::move(one));
  }
  EXPECT_EQ(ports.size(), 100u);
}

}  // namespace
}  // namespace muster::agent
