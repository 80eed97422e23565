#ifndef MUSTER_AGENT_STACKS_WORKER_STATE_READER_H_
#define MUSTER_AGENT_STACKS_WORKER_STATE_READER_H_

#include <cstdint>
#include <string_view>

#include "agent/lifecycle/worker_state.h"

namespace muster::agent {

// The state letter in the text of /proc/<pid>/stat; '?': none.
char StateLetter(std::string_view stat);

// The state of the process's first thread; kEnded if the process is gone. Does
// not block: the kernel takes no lock of the process's memory for this file.
WorkerState ReadWorkerState(int64_t pid);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_STACKS_WORKER_STATE_READER_H_
