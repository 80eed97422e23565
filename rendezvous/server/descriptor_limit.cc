#include "rendezvous/server/descriptor_limit.h"

#include <sys/resource.h>

#include <algorithm>

namespace muster {
namespace {

// Files of the process itself: epoll sets, logs, pipes, operators' calls.
constexpr rlim_t kReserve = 100;
constexpr rlim_t kMostNodes = 1'000'000;

}  // namespace

int RaiseDescriptorLimit() {
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  if (limit.rlim_cur < limit.rlim_max) {
    rlimit raised = limit;
    raised.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &raised) == 0) limit = raised;
  }
  const rlim_t files = std::max(limit.rlim_cur, kReserve);
  return static_cast<int>(std::min(files - kReserve, kMostNodes));
}

}  // namespace muster
