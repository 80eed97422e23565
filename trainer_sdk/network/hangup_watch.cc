#include "trainer_sdk/network/hangup_watch.h"

#include <sys/epoll.h>

#include <array>

namespace muster {

HangupWatch::HangupWatch() : epoll_(epoll_create1(EPOLL_CLOEXEC)) {}

void HangupWatch::Add(int socket) {
  if (!epoll_.open()) return;
  epoll_event event{};
  event.events = EPOLLRDHUP | EPOLLONESHOT;
  if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, socket, &event) != 0) {
    epoll_.Close();
  }
}

bool HangupWatch::Any() {
  if (!epoll_.open()) return true;
  std::array<epoll_event, 16> events;
  return epoll_wait(epoll_.get(), events.data(), events.size(), 0) > 0;
}

}  // namespace muster
