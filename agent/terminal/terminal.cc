#include "agent/terminal/terminal.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <type_traits>

namespace muster::agent {

static_assert(std::is_trivially_copyable_v<TerminalModes>);

std::optional<TerminalModes> ReadTerminalModes(int fd) {
  TerminalModes modes;
  if (tcgetattr(fd, &modes.before) != 0) return std::nullopt;
  modes.forwarding = modes.before;
  termios& raw = modes.forwarding;
  raw.c_iflag &= ~static_cast<tcflag_t>(BRKINT | ICRNL | IGNCR | INLCR | INPCK |
                                        ISTRIP | IXON | PARMRK);
  raw.c_lflag &= ~static_cast<tcflag_t>(ECHO | ECHONL | ICANON | IEXTEN);
  raw.c_cc[VMIN] = 1;
  raw.c_cc[VTIME] = 0;
  return modes;
}

bool HasModes(int fd, const termios& modes) {
  termios now = {};
  return tcgetattr(fd, &now) == 0 && now.c_iflag == modes.c_iflag &&
         now.c_oflag == modes.c_oflag && now.c_cflag == modes.c_cflag &&
         now.c_lflag == modes.c_lflag &&
         std::equal(std::begin(now.c_cc), std::end(now.c_cc),
                    std::begin(modes.c_cc));
}

void RestoreTypedEnds(const termios& before, std::string& typed) {
  if ((before.c_lflag & ICANON) == 0) return;
  std::replace(typed.begin(), typed.end(), '\0',
               static_cast<char>(before.c_cc[VEOF]));
}

bool SetModes(int fd, const termios& modes) {
  sigset_t stop;
  sigset_t before;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTTOU);
  pthread_sigmask(SIG_BLOCK, &stop, &before);
  const bool set = tcsetattr(fd, TCSANOW, &modes) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return set;
}

std::string EncodeModes(const TerminalModes& modes) {
  return std::string(reinterpret_cast<const char*>(&modes), sizeof modes);
}

std::optional<TerminalModes> DecodeModes(std::string_view bytes) {
  TerminalModes modes;
  if (bytes.size() != sizeof modes) return std::nullopt;
  std::memcpy(&modes, bytes.data(), sizeof modes);
  return modes;
}

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
