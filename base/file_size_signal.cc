#include "base/file_size_signal.h"

#include <signal.h>

namespace muster {
namespace {

bool changed = false;
bool was_ignored = false;

}  // namespace

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
