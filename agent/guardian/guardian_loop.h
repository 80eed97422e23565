#ifndef MUSTER_AGENT_GUARDIAN_GUARDIAN_LOOP_H_
#define MUSTER_AGENT_GUARDIAN_GUARDIAN_LOOP_H_

#include "base/owned_fd.h"

namespace muster::agent {

// The guardian's whole life, in the child that Guardian::Fork made: starts,
// signals and reaps workers as the agent's commands on `socket` say, until the
// agent is gone; then kills every descendant, removes what the agent would have
// removed, and ends the process.
//
// `agent` is a pidfd of the agent, or closed where the kernel has none: the
// socket's end of file alone tells then. Takes over the process: its session,
// descriptors, signal dispositions and mask, stdio and name.
[[noreturn]] void RunGuardian(OwnedFd socket, OwnedFd agent);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_GUARDIAN_GUARDIAN_LOOP_H_
