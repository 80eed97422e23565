#include "trainer_sdk/shared_memory/life.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"

namespace muster {

absl::StatusOr<LifeSign> MakeLifeSign() {
  LifeSign sign;
  sign.told = OwnedFd(static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0)));
  if (sign.told.open()) {
    fcntl(sign.told.get(), F_SETFD, FD_CLOEXEC);
    return sign;
  }
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    return absl::ResourceExhaustedError(
        absl::StrCat("cannot create a pipe: ", std::strerror(errno)));
  }
  sign.told = OwnedFd(ends[0]);
  sign.kept = OwnedFd(ends[1]);
  return sign;
}

std::vector<int> Gone(const std::vector<int>& told) {
  std::vector<pollfd> polled;
  polled.reserve(told.size());
  for (const int fd : told) polled.push_back({fd, POLLIN, 0});
  std::vector<int> gone;
  if (poll(polled.data(), polled.size(), 0) <= 0) return gone;
  for (size_t i = 0; i < polled.size(); ++i) {
    if ((polled[i].revents & (POLLIN | POLLHUP)) != 0) {
      gone.push_back(static_cast<int>(i));
    }
  }
  return gone;
}

}  // namespace muster
