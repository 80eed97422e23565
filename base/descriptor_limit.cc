#include "base/descriptor_limit.h"

#include <sys/resource.h>

#include <algorithm>

namespace muster {

int RaiseDescriptorLimit(int kept_for_others) {
  constexpr rlim_t kMax = 1'000'000;
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 512;
  if (limit.rlim_cur < limit.rlim_max) {
    rlimit raised = limit;
    raised.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &raised) == 0) limit = raised;
  }
  const rlim_t kept =
      std::min(static_cast<rlim_t>(kept_for_others), limit.rlim_cur / 2);
  return static_cast<int>(std::min(limit.rlim_cur - kept, kMax));
}

}  // namespace muster
