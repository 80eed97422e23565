#ifndef MUSTER_AGENT_GUARDIAN_GUARDIAN_PROCESS_H_
#define MUSTER_AGENT_GUARDIAN_GUARDIAN_PROCESS_H_

#include <initializer_list>

#include "base/owned_fd.h"

namespace muster::agent {

// Turns a freshly forked child, in which all signals are blocked, into the
// guardian's process: its own session and name, a sub-reaper, all signals still
// blocked, /dev/null as stdio, and no other descriptors than `kept`. Returns a
// signalfd for SIGCHLD; closed if none can be made.
OwnedFd BecomeGuardianProcess(std::initializer_list<int> kept);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_GUARDIAN_GUARDIAN_PROCESS_H_
