#include "agent/guardian/guardian_line.h"

#include <sys/socket.h>

#include <chrono>

#include "base/monotonic_clock.h"
#include "base/poll.h"

namespace muster::agent {
namespace {

// The guardian reads a command within microseconds. After this time it hangs or
// was stopped, and is unusable.
constexpr std::chrono::seconds kCommandDeadline(10);
// After this time the agent kills the remaining processes itself.
constexpr std::chrono::seconds kCloseDeadline(5);

}  // namespace

bool GuardianLine::Send(const std::string& command,
                        std::vector<int> descriptors) {
  channel_.Queue(command, std::move(descriptors));
  const Instant end = MonotonicNow() + kCommandDeadline;
  while (channel_.Flush()) {
    if (channel_.unsent() == 0) return true;
    pollfd fds[] = {{channel_.fd(), POLLIN | POLLOUT, 0}};
    if (PollUntil(fds, end) == 0) return false;
    // A notice is read meanwhile: if both ends only wrote, both could wait for
    // ever.
    if ((fds[0].revents & POLLIN) != 0) {
      has_unread_ = true;
      if (!channel_.Fill()) return false;
    }
  }
  return false;
}

bool GuardianLine::Receive(std::vector<Notice>* notices) {
  has_unread_ = false;
  const bool open = channel_.Fill();
  while (true) {
    const auto frame = channel_.TakeFrame();
    if (!frame.ok()) return false;
    if (!frame->has_value()) return open;
    absl::StatusOr<Notice> notice = DecodeNotice(**frame);
    if (!notice.ok()) return false;
    notices->push_back(*std::move(notice));
  }
}

void GuardianLine::Close() {
  shutdown(channel_.fd(), SHUT_WR);
  const Instant end = MonotonicNow() + kCloseDeadline;
  std::vector<Notice> unread;
  do {
    if (!PollUntil(channel_.fd(), POLLIN, end)) return;
    unread.clear();
  } while (Receive(&unread));
}

}  // namespace muster::agent
