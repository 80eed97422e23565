#ifndef MUSTER_AGENT_GUARDIAN_START_RETRY_H_
#define MUSTER_AGENT_GUARDIAN_START_RETRY_H_

#include <optional>

#include "agent/guardian/exec_program.h"
#include "base/time.h"

namespace muster::agent {

// Whether this guardian has executed the program before.
enum class SeenBefore { kYes, kNo };

// Whether a failed start may succeed if it is retried a moment later; the
// failure is not final then. Reasons: the machine lacked processes or memory
// (EAGAIN, ENOMEM, ENFILE), a file server answered late or with an old file
// handle (ESTALE, EIO, ETIMEDOUT), or the program is being written (ETXTBSY).
// If the program is absent (ENOENT, ENOTDIR), the start is retried only if the
// program was executed before. So a start with a mistyped name fails at once.
// Pure.
bool IsPassing(const StartFailure& failure, SeenBefore seen);

// The delay before the next attempt after `failed` attempts: 50 ms, doubled
// each time. nullopt: the failure is final, after 6.35 s in total. Pure.
std::optional<Duration> DelayOfRetry(int failed);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_GUARDIAN_START_RETRY_H_
