#include "agent/terminal/terminal_bridge.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

#include "agent/terminal/terminal.h"
#include "base/blocked_signals.h"
#include "base/monotonic_clock.h"
#include "base/poll.h"

namespace muster::agent {
namespace {

// The interval at which a background process checks whether it has come to the
// foreground. Polling is needed, because a shell sends no signal when it brings
// a running process to the foreground.
constexpr std::chrono::milliseconds kBackgroundInterval(300);

// Whether `fd` is this process's controlling terminal; tcgetpgrp fails for any
// other terminal.
bool Controls(int fd) { return isatty(fd) == 1 && tcgetpgrp(fd) >= 0; }

int FindTerminal() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (Controls(fd)) return fd;
  }
  return -1;
}

bool InForeground(int fd) { return tcgetpgrp(fd) == getpgrp(); }

}  // namespace

TerminalBridge::TerminalBridge(OnModes on_modes)
    : on_modes_(std::move(on_modes)), terminal_(FindTerminal()) {}

TerminalBridge::~TerminalBridge() { Release(); }

std::vector<int> TerminalBridge::Signals() {
  // The result of the first call is kept. When the terminal hangs up, the
  // kernel sends SIGCONT, and FindTerminal would find no terminal any more. The
  // agent would then not recognise SIGCONT as a signal of job control.
  static const bool has_terminal = FindTerminal() >= 0;
  if (!has_terminal) return {};
  return {SIGWINCH, SIGTSTP, SIGCONT};
}

TerminalBridge::Stdin TerminalBridge::LookAtStdin() {
  if (!Controls(STDIN_FILENO)) return Stdin::kOther;
  return InForeground(STDIN_FILENO) ? Stdin::kForeground : Stdin::kBackground;
}

void TerminalBridge::FollowSize(OwnedFd controlling, OwnedFd other) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (terminal_ < 0) return;
  for (OwnedFd* one : {&other, &controlling}) {
    if (one->open()) sized_.push_back(std::move(*one));
  }
  ResizeLocked();
}

void TerminalBridge::Resized() {
  std::lock_guard<std::mutex> lock(mutex_);
  ResizeLocked();
}

// Gives the terminal's size to all pseudo-terminals, the worker's controlling
// terminal last: its new size makes the kernel send SIGWINCH to the worker, and
// all other pseudo-terminals must have the new size by then. The size is read
// only once, so that all get the same size.
void TerminalBridge::ResizeLocked() {
  const std::optional<winsize> size = ReadWindowSize(terminal_);
  if (!size) return;
  for (const OwnedFd& one : sized_) SetWindowSize(one.get(), *size);
}

void TerminalBridge::Forward(OwnedFd master) {
  if (!Controls(STDIN_FILENO) || thread_.joinable()) return;
  wake_ = OwnedFd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake_.open()) return;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    ending_ = false;
    // Reads the modes only in the foreground, because in the background they
    // are those of the shell's prompt.
    if (InForeground(STDIN_FILENO)) modes_ = ReadTerminalModes(STDIN_FILENO);
    if (modes_ && on_modes_) on_modes_(STDIN_FILENO, &*modes_);
  }
  thread_ =
      std::thread([this, master = std::move(master)] { Run(master.get()); });
}

void TerminalBridge::Release() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    ending_ = true;
  }
  Wake();
  if (thread_.joinable()) thread_.join();
  std::lock_guard<std::mutex> lock(mutex_);
  RestoreLocked();
  sized_.clear();
  if (!modes_) return;
  modes_.reset();
  if (on_modes_) on_modes_(STDIN_FILENO, nullptr);
}

void TerminalBridge::Stop() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stopped_ = true;
    RestoreLocked();
  }
  // Raise SIGTSTP, not SIGSTOP. If no process of the session could continue
  // this process, the kernel ignores SIGTSTP, whereas SIGSTOP would stop this
  // process forever.
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTSTP);
  raise(SIGTSTP);
  pthread_sigmask(SIG_UNBLOCK, &stop, nullptr);
  // The process stops in the call that unblocks SIGTSTP, and continues here
  // after SIGCONT.
  pthread_sigmask(SIG_BLOCK, &stop, nullptr);
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stopped_ = false;
  }
  Continued();
}

void TerminalBridge::Continued() {
  Resized();
  Wake();
}

void TerminalBridge::Wake() {
  const uint64_t one = 1;
  if (wake_.open()) (void)!write(wake_.get(), &one, sizeof one);
}

bool TerminalBridge::IsEnding() {
  std::lock_guard<std::mutex> lock(mutex_);
  return ending_;
}

bool TerminalBridge::TakeForeground() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (ending_ || stopped_ || !InForeground(STDIN_FILENO)) {
    // No keys are forwarded: Release or Stop was called, or this process is in
    // the background, where the terminal's modes belong to the shell.
    forwarding_ = false;
    return false;
  }
  if (!modes_) modes_ = ReadTerminalModes(STDIN_FILENO);
  if (!modes_) return false;
  if (!forwarding_ || !HasModes(STDIN_FILENO, modes_->forwarding)) {
    const std::optional<TerminalModes> now = ReadTerminalModes(STDIN_FILENO);
    forwarding_ = SetModes(STDIN_FILENO, modes_->forwarding);
    const bool typed = forwarding_ && PollUntil(STDIN_FILENO, POLLIN, kAtOnce);
    typed_in_.reset();
    if (typed && now) typed_in_ = now->before;
  }
  return forwarding_;
}

void TerminalBridge::RestoreTypedBefore(std::string& typed) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (typed_in_) RestoreTypedEnds(*typed_in_, typed);
  typed_in_.reset();
}

void TerminalBridge::RestoreLocked() {
  if (forwarding_ && InForeground(STDIN_FILENO)) {
    SetModes(STDIN_FILENO, modes_->before);
  }
  forwarding_ = false;
}

void TerminalBridge::Run(int master) {
  BlockSignals();
  std::string typed;  // keys that the pseudo-terminal has not accepted yet
  while (!IsEnding()) {
    const bool reads = TakeForeground();
    pollfd fds[3] = {{wake_.get(), POLLIN, 0},
                     {typed.empty() && reads ? STDIN_FILENO : -1, POLLIN, 0},
                     {typed.empty() ? -1 : master, POLLOUT, 0}};
    PollUntil(fds, reads ? kNoDeadline : MonotonicNow() + kBackgroundInterval);
    uint64_t wakes = 0;
    if (fds[0].revents != 0) (void)!read(wake_.get(), &wakes, sizeof wakes);
    if (fds[1].revents != 0) {
      char keys[4096];  // The kernel's buffer of typed keys has 4096 bytes.
      const ssize_t got = read(STDIN_FILENO, keys, sizeof keys);
      if (got > 0) {
        typed.assign(keys, static_cast<size_t>(got));
        RestoreTypedBefore(typed);
      } else if (got == 0 || (errno == EIO && InForeground(STDIN_FILENO))) {
        return;  // the terminal has hung up; SIGHUP ends the job
      }
    }
    if (typed.empty()) continue;
    const ssize_t taken = write(master, typed.data(), typed.size());
    if (taken > 0) {
      typed.erase(0, static_cast<size_t>(taken));
    } else if (taken < 0 && errno != EAGAIN && errno != EINTR) {
      return;  // the worker has closed its end of the pseudo-terminal
    }
  }
}

}  // namespace muster::agent
