#ifndef MUSTER_AGENT_LIFECYCLE_WORKER_STATE_H_
#define MUSTER_AGENT_LIFECYCLE_WORKER_STATE_H_

namespace muster::agent {

// What the kernel says of the first thread of a worker's process.
enum class WorkerState {
  kOther,            // it runs or sleeps, as those do that wait for a peer
  kStopped,          // by a signal, until SIGCONT; not by a debugger
  kUninterruptible,  // in a wait that no signal ends: a disk, a driver
  kEnded,            // the process, or that thread alone
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_LIFECYCLE_WORKER_STATE_H_
