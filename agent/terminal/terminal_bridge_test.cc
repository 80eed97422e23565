#include "agent/terminal/terminal_bridge.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

#include "agent/terminal/terminal.h"
#include "base/owned_fd.h"

namespace muster::agent {
namespace {

int seen_fd = -1;
volatile sig_atomic_t columns_in_handler = 0;

void OnWindowChange(int) {
  winsize size = {};
  ioctl(seen_fd, TIOCGWINSZ, &size);
  columns_in_handler = size.ws_col;
}

[[noreturn]] void Fail(const char* what) {
  std::perror(what);
  _exit(2);
}

// Makes the terminal `slave` the controlling terminal of this process, which
// must be a session leader.
void Control(int slave) {
  if (ioctl(slave, TIOCSCTTY, 0) != 0) Fail("TIOCSCTTY");
}

// Runs in a process of its own, which exits with 0 if the test succeeds: when
// SIGWINCH arrives because one of two pseudo-terminals was resized, the other
// one must have the new size already.
//
// This process has the TerminalBridge and also plays the worker: the first
// pseudo-terminal is its controlling terminal. When TerminalBridge::Resized
// resizes this pseudo-terminal, the kernel sends SIGWINCH to this process, and
// the signal handler runs before Resized continues.
[[noreturn]] void ReadTheOtherSizeInTheHandler() {
  signal(SIGHUP, SIG_IGN);
  OwnedFd outer(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  char path[128] = "";
  if (setsid() < 0 || grantpt(outer.get()) != 0 || unlockpt(outer.get()) != 0 ||
      ptsname_r(outer.get(), path, sizeof path) != 0) {
    Fail("a terminal");
  }
  winsize size = {.ws_row = 24, .ws_col = 80, .ws_xpixel = 0, .ws_ypixel = 0};
  SetWindowSize(outer.get(), size);
  dup2(open(path, O_RDWR | O_NOCTTY | O_CLOEXEC), STDIN_FILENO);
  Control(STDIN_FILENO);
  TerminalBridge bridge;
  auto controlling = OpenPty(STDIN_FILENO);
  auto other = OpenPty(STDIN_FILENO);
  if (!controlling || !other) Fail("pseudo-terminals");
  bridge.FollowSize(std::move(controlling->master), std::move(other->master));

  if (ioctl(STDIN_FILENO, TIOCNOTTY) != 0) Fail("TIOCNOTTY");
  Control(controlling->slave.get());
  seen_fd = other->slave.get();
  signal(SIGWINCH, OnWindowChange);
  size.ws_col = 77;
  SetWindowSize(outer.get(), size);
  bridge.Resized();
  std::fprintf(stderr, "%d columns\n", static_cast<int>(columns_in_handler));
  _exit(columns_in_handler == 77 ? 0 : 1);
}

TEST(TerminalBridge, HasSizedTheOthersWhenTheControllingTerminalsSignalComes) {
  EXPECT_EXIT(ReadTheOtherSizeInTheHandler(), ::testing::ExitedWithCode(0),
              "77 columns");
}

}  // namespace
}  // namespace muster::agent
