#include "agent/terminal/pty_pair.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>

namespace muster::agent {

std::optional<PtyPair> OpenPty(int like) {
  termios modes = {};
  if (tcgetattr(like, &modes) != 0) return std::nullopt;
  PtyPair pty;
  pty.master = OwnedFd(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  const int master = pty.master.get();
  if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0) {
    return std::nullopt;
  }
  char path[128];
  if (ptsname_r(master, path, sizeof path) != 0) return std::nullopt;
  pty.slave = OwnedFd(open(path, O_RDWR | O_NOCTTY | O_CLOEXEC));
  // Output processing is off, so that the worker's log file gets the bytes as
  // the worker wrote them. The user's terminal processes them later.
  modes.c_oflag &= ~static_cast<tcflag_t>(OPOST);
  if (!pty.slave.open() || tcsetattr(pty.slave.get(), TCSANOW, &modes) != 0 ||
      fcntl(master, F_SETFL, O_NONBLOCK) != 0) {
    return std::nullopt;
  }
  if (const auto size = ReadWindowSize(like)) SetWindowSize(master, *size);
  return pty;
}

std::optional<winsize> ReadWindowSize(int fd) {
  winsize size = {};
  if (ioctl(fd, TIOCGWINSZ, &size) != 0) return std::nullopt;
  return size;
}

void SetWindowSize(int fd, const winsize& size) {
  ioctl(fd, TIOCSWINSZ, &size);
}

}  // namespace muster::agent
