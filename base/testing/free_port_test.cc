#include "base/testing/free_port.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>

#include "base/owned_fd.h"

namespace muster {
namespace {

int Bind(const OwnedFd& fd, int port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return bind(fd.get(), reinterpret_cast<const sockaddr*>(&address),
              sizeof(address));
}

OwnedFd Socket() {
  return OwnedFd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
}

TEST(FreePortTest, IsFreeAndNotOneThatTheKernelGives) {
  const int port = FreePort();
  EXPECT_GE(port, 10'000);
  EXPECT_LT(port, 32'000);
  EXPECT_EQ(Bind(Socket(), port), 0);
}

TEST(FreePortTest, HeldItIsNobodyElses) {
  HeldPort held = HoldPort();
  EXPECT_NE(Bind(Socket(), held.port), 0);
  EXPECT_NE(HoldPort().port, held.port);
  held.holder.Close();
  EXPECT_EQ(Bind(Socket(), held.port), 0);
}

}  // namespace
}  // namespace muster
