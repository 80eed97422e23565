#ifndef MUSTER_AGENT_GUARDIAN_GUARDIAN_LOOP_H_
#define MUSTER_AGENT_GUARDIAN_GUARDIAN_LOOP_H_

#include <initializer_list>

#include "base/owned_fd.h"

namespace muster::agent {

// Turns a freshly forked child into the guardian's process. The process gets
// its own session and name and becomes a sub-reaper. Its stdio is /dev/null,
// and it keeps no other descriptors than `kept`. All signals are blocked before
// the call and stay blocked. Returns a signalfd for SIGCHLD; closed if it
// cannot be created.
OwnedFd BecomeGuardianProcess(std::initializer_list<int> kept);

// The main function of the guardian, called in the child that Guardian::Fork
// made. Starts, signals and reaps workers by the commands that arrive on
// `socket`, until the agent is gone. Then it kills every descendant, removes
// the folder and the job files that the agent has asked to remove, restores the
// terminal's modes, and exits.
//
// `agent` is a pidfd of the agent. On kernels without pidfd it is closed, and
// only the socket's end of file shows the agent's death. RunGuardian changes
// the whole process: session, descriptors, signal dispositions and mask, stdio
// and name.
[[noreturn]] void RunGuardian(OwnedFd socket, OwnedFd agent);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_GUARDIAN_GUARDIAN_LOOP_H_
