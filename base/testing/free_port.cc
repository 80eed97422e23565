#include "base/testing/free_port.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <random>
#include <utility>

#include "base/check.h"

namespace muster {

HeldPort HoldPort() {
  std::random_device seed;
  std::mt19937 random(seed());
  std::uniform_int_distribution<int> ports(10'000, 31'999);
  for (int attempt = 0; attempt < 1000; ++attempt) {
    OwnedFd holder(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const int port = ports(random);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(holder.get(), reinterpret_cast<const sockaddr*>(&address),
             sizeof(address)) == 0) {
      return {std::move(holder), port};
    }
  }
  MUSTER_CHECK(false) << "no port of 127.0.0.1 is free";
  return {};
}

int FreePort() { return HoldPort().port; }

}  // namespace muster
