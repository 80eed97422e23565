#ifndef MUSTER_AGENT_LIFECYCLE_WORKER_STATE_H_
#define MUSTER_AGENT_LIFECYCLE_WORKER_STATE_H_

namespace muster::agent {

// The state of the first thread of a worker's process, as the kernel reports
// it.
enum class WorkerState {
  kOther,            // running or sleeping, for instance waiting for a peer
  kStopped,          // stopped by a signal until SIGCONT; not by a debugger
  kUninterruptible,  // in a wait that no signal ends: a disk, a driver
  kEnded,            // the process, or only its first thread, has ended
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_LIFECYCLE_WORKER_STATE_H_
