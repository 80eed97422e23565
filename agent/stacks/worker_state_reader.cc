#include "agent/stacks/worker_state_reader.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "base/bounded_file.h"

namespace muster::agent {
namespace {

constexpr size_t kMaxFileBytes = 2048;

}  // namespace

// The format is "4242 (a name) S 1 …"; the name may contain any characters.
char StateLetter(std::string_view stat) {
  const size_t end = stat.rfind(')');
  return end == std::string_view::npos || end + 2 >= stat.size()
             ? '?'
             : stat[end + 2];
}

WorkerState ReadWorkerState(int64_t pid) {
  const auto stat =
      ReadBeginning(absl::StrCat("/proc/", pid, "/stat"), kMaxFileBytes);
  if (!stat.has_value()) return WorkerState::kEnded;
  switch (StateLetter(*stat)) {
    case 'T':  // 't' (traced) is set by a debugger, perhaps our own
      return WorkerState::kStopped;
    case 'D':
      return WorkerState::kUninterruptible;
    case 'Z':
    case 'X':
      return WorkerState::kEnded;
    default:
      return WorkerState::kOther;
  }
}

}  // namespace muster::agent
