#ifndef MUSTER_AGENT_GUARDIAN_GUARDIAN_LOOP_H_
#define MUSTER_AGENT_GUARDIAN_GUARDIAN_LOOP_H_

#include <initializer_list>

#include "base/owned_fd.h"

namespace muster::agent {

// Turns a freshly forked child, in which all signals are blocked, into the
// guardian's process: its own session and name, a sub-reaper, all signals still
// blocked, /dev/null as stdio, and no other descriptors than `kept`. Returns a
// signalfd for SIGCHLD; closed if none can be made.
OwnedFd BecomeGuardianProcess(std::initializer_list<int> kept);

// The main function of the guardian, called in the child that Guardian::Fork
// made. Starts, signals and reaps workers as the commands on `socket` say,
// until the agent is gone; then kills every descendant, removes what the agent
// would have removed, and exits.
//
// `agent` is a pidfd of the agent; it is closed on kernels without pidfd, and
// then only the socket's end of file shows the agent's death. Takes over the
// process: session, descriptors, signal dispositions and mask, stdio and name.
[[noreturn]] void RunGuardian(OwnedFd socket, OwnedFd agent);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_GUARDIAN_GUARDIAN_LOOP_H_
