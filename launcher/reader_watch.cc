#include "launcher/reader_watch.h"

#include <sys/eventfd.h>

#include <utility>

#include "base/poll.h"

namespace muster::launcher {
namespace {

void Watch(int fd, int stop, const std::function<void()>& on_left) {
  // No events of `fd` are requested, so poll reports only its errors. poll
  // reports POLLERR for a pipe that its last reader has closed.
  pollfd watched[] = {{.fd = fd, .events = 0, .revents = 0},
                      {.fd = stop, .events = POLLIN, .revents = 0}};
  PollUntil(watched, kNoDeadline);
  // POLLERR and POLLHUP mean that the reader has left. Ignore POLLNVAL, which
  // means that `fd` is not open.
  if (watched[1].revents == 0 &&
      (watched[0].revents & (POLLERR | POLLHUP)) != 0) {
    on_left();
  }
}

}  // namespace

ReaderWatch::ReaderWatch(int fd, std::function<void()> on_left)
    : stop_(eventfd(0, EFD_CLOEXEC)),
      thread_([fd, stop = stop_.get(), on_left = std::move(on_left)] {
        Watch(fd, stop, on_left);
      }) {}

ReaderWatch::~ReaderWatch() {
  eventfd_write(stop_.get(), 1);
  thread_.join();
}

}  // namespace muster::launcher
