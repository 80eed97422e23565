#include "rendezvous/testing/tcp_relay.h"

#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>

#include "base/check.h"

namespace muster {
namespace {

sockaddr_in Loopback(int port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

// A reset, not an orderly end: nothing that is under way arrives any more.
void Break(int fd) {
  const linger at_once = {.l_onoff = 1, .l_linger = 0};
  setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
  close(fd);
}

}  // namespace

TcpRelay::TcpRelay(int to_port) : to_port_(to_port) {
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  wake_ = eventfd(0, EFD_CLOEXEC);
  sockaddr_in address = Loopback(0);
  socklen_t size = sizeof(address);
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  MUSTER_CHECK(bind(listener_, generic, size) == 0 &&
               listen(listener_, 10) == 0 &&
               getsockname(listener_, generic, &size) == 0);
  port_ = ntohs(address.sin_port);
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
    poll(ready.data(), ready.size(), -1);
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

}  // namespace muster
