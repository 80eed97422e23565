#ifndef MUSTER_AGENT_STACKS_PY_SPY_H_
#define MUSTER_AGENT_STACKS_PY_SPY_H_

#include <cstdint>
#include <string>

#include "base/time.h"

namespace muster::agent {

// Either Python's frames or the reason why there are none.
struct PythonStacks {
  std::string dump;     // py-spy's; empty: none
  std::string why_not;  // one line for a person; empty where there is a dump
};

// Path of the program py-spy: in PATH, else beside this program, else where
// tools/setup_py_spy puts it (MUSTER_PY_SPY_DIR, else
// $XDG_CACHE_HOME/muster/py-spy, else ~/.cache/muster/py-spy). Empty: it is in
// none of these places.
std::string FindPySpy();

// Python's frames of all threads of process `pid`, read out of its memory from
// outside (process_vm_readv). The process is neither stopped nor signalled and
// executes nothing for it, so that its system calls are not interrupted.
// Returns at the deadline, after three seconds or when `cancel_fd` turns
// readable. `max_bytes` bounds the dump.
PythonStacks ReadPythonStacks(int64_t pid, Instant deadline, int cancel_fd,
                              size_t max_bytes);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_STACKS_PY_SPY_H_
