#include "trainer_sdk/tcp/hello.h"

#include <sys/socket.h>

#include <cerrno>

namespace muster {

ArrivingHello::State ArrivingHello::Read(int fd) {
  while (have < sizeof(hello)) {
    const ssize_t n = recv(fd, reinterpret_cast<char*>(&hello) + have,
                           sizeof(hello) - have, MSG_DONTWAIT);
    if (n > 0) {
      have += static_cast<size_t>(n);
    } else if (n < 0 && errno == EAGAIN) {
      return State::kMore;
    } else if (n == 0 || errno != EINTR) {
      return State::kBroken;
    }
  }
  return State::kWhole;
}

bool SendHello(int fd, const Hello& hello) {
  return send(fd, &hello, sizeof(hello), MSG_NOSIGNAL | MSG_DONTWAIT) ==
         sizeof(hello);
}

}  // namespace muster
