#include "agent/terminal/terminal_modes.h"

#include <signal.h>

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

}  // namespace muster::agent
