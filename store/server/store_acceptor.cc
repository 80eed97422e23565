#include "store/server/store_acceptor.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace muster::store {

bool StoreAcceptor::Watch(int epoll, uint64_t id) {
  epoll_ = epoll;
  id_ = id;
  epoll_event event{.events = EPOLLIN, .data = {.u64 = id}};
  return epoll_ctl(epoll, EPOLL_CTL_ADD, listener_.get(), &event) == 0;
}

OwnedFd StoreAcceptor::Accept(size_t connections, std::string* why_paused) {
  if (paused_) return OwnedFd();
  if (connections >= max_connections_) {
    Pause();
    *why_paused = absl::StrCat("the store serves ", connections,
                               " connections, all that the limit of "
                               "descriptors (ulimit -n) allows");
    return OwnedFd();
  }
  while (true) {
    OwnedFd socket(accept4(listener_.get(), nullptr, nullptr,
                           SOCK_NONBLOCK | SOCK_CLOEXEC));
    // A failure of one connection says nothing about the next one.
    if (!socket.open() && (errno == EINTR || errno == ECONNABORTED)) continue;
    if (!socket.open() && (errno == EMFILE || errno == ENFILE ||
                           errno == ENOBUFS || errno == ENOMEM)) {
      Pause();
      *why_paused =
          absl::StrCat("the store cannot accept: ", std::strerror(errno));
    }
    return socket;
  }
}

void StoreAcceptor::Pause() {
  paused_ = true;
  SetEvents(0);
}

void StoreAcceptor::Resume(size_t connections) {
  if (!paused_ || connections >= max_connections_) return;
  paused_ = false;
  SetEvents(EPOLLIN);
}

void StoreAcceptor::SetEvents(uint32_t events) {
  epoll_event event{.events = events, .data = {.u64 = id_}};
  // Keep errno for the caller's error message.
  const int error = errno;
  epoll_ctl(epoll_, EPOLL_CTL_MOD, listener_.get(), &event);
  errno = error;
}

}  // namespace muster::store
