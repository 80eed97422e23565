#ifndef MUSTER_AGENT_STACKS_WORKER_STATE_READER_H_
#define MUSTER_AGENT_STACKS_WORKER_STATE_READER_H_

#include <cstdint>
#include <string_view>

#include "agent/lifecycle/worker_state.h"

namespace muster::agent {

// The state's letter in a /proc/<pid>/stat; '?': there is none.
char StateLetter(std::string_view stat);

// Of the process's first thread; kEnded if the process is gone. Does not wait:
// the kernel takes no lock of the process's memory for that file.
WorkerState ReadWorkerState(int64_t pid);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_STACKS_WORKER_STATE_READER_H_
