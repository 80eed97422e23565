#ifndef MUSTER_AGENT_GUARDIAN_GUARDIAN_PROCESS_H_
#define MUSTER_AGENT_GUARDIAN_GUARDIAN_PROCESS_H_

#include <initializer_list>

#include "base/owned_fd.h"

namespace muster::agent {

// Turns a freshly forked child, in which all signals are blocked, into the
// guardian's process: a session and a name of its own, a sub-reaper, deaf to
// every signal that can be blocked, with /dev/null as stdio and no descriptor
// besides those and `kept`. Returns a signalfd that tells of children's ends;
// closed if there is none to be had.
OwnedFd BecomeGuardianProcess(std::initializer_list<int> kept);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_GUARDIAN_GUARDIAN_PROCESS_H_
