#include "rendezvous/testing/loopback.h"

#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <utility>

#include "base/check.h"
#include "base/poll.h"

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

StrangeServer::StrangeServer(std::string greeting)
    : greeting_(std::move(greeting)) {
  listener_ = ListenOnLoopback(&port_);
  thread_ = std::thread([this] { Run(); });
}

StrangeServer::~StrangeServer() {
  shutdown(listener_, SHUT_RDWR);
  thread_.join();
  close(listener_);
}

void StrangeServer::Run() {
  while (true) {
    const int caller = accept(listener_, nullptr, nullptr);
    if (caller < 0) return;
    send(caller, greeting_.data(), greeting_.size(), MSG_NOSIGNAL);
    char buffer[4096];
    timeval timeout = {.tv_sec = 1, .tv_usec = 0};
    setsockopt(caller, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
    while (recv(caller, buffer, sizeof(buffer), 0) > 0) {
    }
    close(caller);
  }
}

bool SaysAndIsHungUpOn(int port, const std::string& bytes) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  timeval timeout = {.tv_sec = 30, .tv_usec = 0};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
  const sockaddr_in address = Loopback(port);
  MUSTER_CHECK(connect(fd, reinterpret_cast<const sockaddr*>(&address),
                       sizeof(address)) == 0);
  // Ignore an error: the server may close the connection before it has got all
  // bytes.
  send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  char buffer[4096];
  ssize_t got;
  do {
    got = recv(fd, buffer, sizeof(buffer), 0);
  } while (got > 0);
  const bool hung_up = got == 0 || errno == ECONNRESET;
  close(fd);
  return hung_up;
}

namespace {

// Closes the socket with a reset (SO_LINGER 0), so that data in flight is lost.
void Break(int fd) {
  const linger at_once = {.l_onoff = 1, .l_linger = 0};
  setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
  close(fd);
}

}  // namespace

TcpRelay::TcpRelay(int to_port) : to_port_(to_port) {
  listener_ = ListenOnLoopback(&port_);
  wake_ = eventfd(0, EFD_CLOEXEC);
  thread_ = std::thread([this] { Run(); });
}

TcpRelay::~TcpRelay() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    ending_ = true;
  }
  eventfd_write(wake_, 1);
  thread_.join();
  for (const auto& [one, other] : pairs_) {
    Break(one);
    Break(other);
  }
  close(listener_);
  close(wake_);
}

void TcpRelay::Cut() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    cutting_ = true;
  }
  eventfd_write(wake_, 1);
}

void TcpRelay::Run() {
  while (true) {
    std::vector<pollfd> ready = {{wake_, POLLIN, 0}, {listener_, POLLIN, 0}};
    for (const auto& [one, other] : pairs_) {
      ready.push_back({one, POLLIN, 0});
      ready.push_back({other, POLLIN, 0});
    }
    PollUntil(ready, kNoDeadline);
    bool cut = false;
    if (ready[0].revents != 0) {
      eventfd_t unused;
      eventfd_read(wake_, &unused);
      std::lock_guard<std::mutex> lock(mutex_);
      if (ending_) return;
      cut = std::exchange(cutting_, false);
    }
    std::vector<Pair> left;
    for (size_t i = 0; i < pairs_.size(); ++i) {
      const auto [one, other] = pairs_[i];
      bool alive = !cut;
      if (alive && ready[2 + 2 * i].revents != 0) alive = Pass(one, other);
      if (alive && ready[3 + 2 * i].revents != 0) alive = Pass(other, one);
      if (alive) {
        left.push_back(pairs_[i]);
      } else {
        Break(one);
        Break(other);
      }
    }
    pairs_ = std::move(left);
    if (ready[1].revents != 0) Accept();
  }
}

void TcpRelay::Accept() {
  const int caller = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  const int callee = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = Loopback(to_port_);
  if (caller >= 0 &&
      connect(callee, reinterpret_cast<const sockaddr*>(&address),
              sizeof(address)) == 0) {
    pairs_.emplace_back(caller, callee);
    return;
  }
  if (caller >= 0) Break(caller);
  close(callee);
}

bool TcpRelay::Pass(int from, int to) {
  char buffer[16384];
  const ssize_t got = recv(from, buffer, sizeof(buffer), MSG_DONTWAIT);
  return got > 0 && send(to, buffer, got, MSG_NOSIGNAL) == got;
}

}  // namespace muster::rendezvous
