#include "agent/guardian/guardian_line.h"

#include <poll.h>
#include <sys/socket.h>

#include <chrono>

namespace muster::agent {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// The guardian takes a command within microseconds. Beyond this it hangs or was
// stopped, and is of no use.
constexpr milliseconds kCommandDeadline{10000};
// After this long the guardian's own last sweep is left to the agent.
constexpr milliseconds kFarewellDeadline{5000};

int RemainingMilliseconds(Clock::time_point end) {
  const auto left =
      std::chrono::duration_cast<milliseconds>(end - Clock::now()).count();
  return left > 0 ? static_cast<int>(left) : 0;
}

}  // namespace

bool GuardianLine::Send(const std::string& command,
                        std::vector<int> descriptors) {
  channel_.Queue(command, std::move(descriptors));
  const auto end = Clock::now() + kCommandDeadline;
  while (channel_.Flush()) {
    if (channel_.unsent() == 0) return true;
    pollfd fd = {channel_.fd(), POLLIN | POLLOUT, 0};
    if (poll(&fd, 1, RemainingMilliseconds(end)) == 0) return false;
    // Two ends that each wait for the other to read would wait for ever.
    if ((fd.revents & POLLIN) != 0) {
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

void GuardianLine::BidFarewell() {
  shutdown(channel_.fd(), SHUT_WR);
  const auto end = Clock::now() + kFarewellDeadline;
  std::vector<Notice> unread;
  do {
    pollfd fd = {channel_.fd(), POLLIN, 0};
    if (poll(&fd, 1, RemainingMilliseconds(end)) == 0) return;
    unread.clear();
  } while (Receive(&unread));
}

}  // namespace muster::agent
