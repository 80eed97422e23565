#ifndef MUSTER_LAUNCHER_SSH_POLL_WAIT_H_
#define MUSTER_LAUNCHER_SSH_POLL_WAIT_H_

#include <poll.h>

#include <optional>
#include <vector>

#include "base/time.h"

namespace muster::launcher {

// Returns when one of `polls` is ready, at `until`, or at a signal; fills in
// what is ready.
void WaitForAny(std::vector<pollfd>& polls, std::optional<Instant> until);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_SSH_POLL_WAIT_H_
