#include "rendezvous/testing/tcp_relay.h"

#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/poll.h"
#include "rendezvous/testing/loopback.h"

namespace muster::rendezvous {
namespace {

// Closes with a reset instead of an orderly end: data in flight is lost.
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
