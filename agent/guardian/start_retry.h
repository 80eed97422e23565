#ifndef MUSTER_AGENT_GUARDIAN_START_RETRY_H_
#define MUSTER_AGENT_GUARDIAN_START_RETRY_H_

#include <optional>

#include "agent/guardian/exec_program.h"
#include "base/time.h"

namespace muster::agent {

// Whether this guardian has already executed the program that it now starts.
enum class SeenBefore { kYes, kNo };

// Whether a failure to start a program is temporary, so that a retry a moment
// later may succeed. Temporary failures are: the machine lacked processes or
// memory (EAGAIN, ENOMEM, ENFILE); a file server answered late or with an old
// file handle (ESTALE, EIO, ETIMEDOUT); another process is writing the
// program's file (ETXTBSY). An absent file (ENOENT, ENOTDIR) is temporary only
// if the guardian has executed the program before. So a start with a mistyped
// name fails at once. Pure.
bool IsPassing(const StartFailure& failure, SeenBefore seen);

// The delay before the next attempt to start a program, after `failed` attempts
// have failed: 50 ms, doubled each time. nullopt: no further attempt is made,
// because all delays (6.35 s together) have been used. Pure.
std::optional<Duration> DelayOfRetry(int failed);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_GUARDIAN_START_RETRY_H_
