#include "base/ignored_signals.h"

#include <signal.h>

#include <algorithm>
#include <csignal>

namespace muster {
namespace {

bool changed = false;
bool was_ignored = false;

}  // namespace

bool IsIgnored(int signal) {
  if (signal == SIGPIPE || signal == SIGXFSZ || signal == SIGCHLD) return false;
  struct sigaction action = {};
  return sigaction(signal, nullptr, &action) == 0 &&
         (action.sa_flags & SA_SIGINFO) == 0 && action.sa_handler == SIG_IGN;
}

std::vector<int> WithoutIgnored(std::vector<int> signals) {
  signals.erase(std::remove_if(signals.begin(), signals.end(), IsIgnored),
                signals.end());
  return signals;
}

uint64_t IgnoredSignals() {
  uint64_t ignored = 0;
  for (int signal = 1; signal < NSIG; ++signal) {
    if (IsIgnored(signal)) ignored |= uint64_t{1} << (signal - 1);
  }
  return ignored;
}

void IgnoreFileSizeSignal() {
  const auto before = signal(SIGXFSZ, SIG_IGN);
  if (!changed) was_ignored = before == SIG_IGN;
  changed = true;
}

bool FileSizeSignalWasIgnored() { return was_ignored; }

void RestoreFileSizeSignal() {
  if (changed && !was_ignored) signal(SIGXFSZ, SIG_DFL);
}

}  // namespace muster
