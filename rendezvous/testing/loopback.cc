#include "rendezvous/testing/loopback.h"

#include <sys/socket.h>

#include <cstdint>

#include "base/check.h"

namespace muster::rendezvous {

sockaddr_in Loopback(int port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

int ListenOnLoopback(int* port) {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = Loopback(0);
  socklen_t size = sizeof(address);
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  MUSTER_CHECK(bind(listener, generic, size) == 0 &&
               listen(listener, 10) == 0 &&
               getsockname(listener, generic, &size) == 0);
  *port = ntohs(address.sin_port);
  return listener;
}

}  // namespace muster::rendezvous
