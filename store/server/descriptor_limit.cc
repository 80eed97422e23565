#include "store/server/descriptor_limit.h"

#include <sys/resource.h>

#include <algorithm>

namespace muster {
namespace {

// For everything in the process that is not a connection of the store.
constexpr size_t kKeptForOthers = 512;

}  // namespace

size_t RaiseDescriptorLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 1024;
  if (limit.rlim_cur < limit.rlim_max) {
    rlimit raised = limit;
    raised.rlim_cur = raised.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &raised) == 0) limit = raised;
  }
  return limit.rlim_cur;
}

size_t ConnectionsWithin(size_t limit) {
  // Where the limit is small, half of it.
  return std::max(limit / 2, limit - std::min(limit, kKeptForOthers));
}

}  // namespace muster
