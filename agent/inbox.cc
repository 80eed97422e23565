#include "agent/inbox.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>

#include "base/check.h"

namespace muster::agent {

Inbox::Inbox() : fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  MUSTER_CHECK(fd_ >= 0) << "eventfd: " << std::strerror(errno);
}

Inbox::~Inbox() { close(fd_); }

void Inbox::Post(LifecycleEvent event) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    events_.push_back(std::move(event));
  }
  const uint64_t one = 1;
  // Fails only with 2^64 unread events.
  [[maybe_unused]] const ssize_t written = write(fd_, &one, sizeof(one));
}

std::vector<LifecycleEvent> Inbox::TakeAll() {
  uint64_t posts;
  [[maybe_unused]] const ssize_t got = read(fd_, &posts, sizeof(posts));
  std::lock_guard<std::mutex> lock(mutex_);
  return std::exchange(events_, {});
}

}  // namespace muster::agent
