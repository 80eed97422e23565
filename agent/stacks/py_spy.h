#ifndef MUSTER_AGENT_STACKS_PY_SPY_H_
#define MUSTER_AGENT_STACKS_PY_SPY_H_

#include <cstdint>
#include <string>

#include "base/time.h"

namespace muster::agent {

// The Python frames of a process, or the reason why there are none.
struct PythonStacks {
  std::string dump;  // output of `py-spy dump`; empty: there is no dump
  // the reason why there is no dump, in one line; empty if there is a dump
  std::string why_not;
};

// The path of the program py-spy; empty: not found. Searched in PATH, then
// beside this program, then where tools/setup_py_spy installs it:
// MUSTER_PY_SPY_DIR, else $XDG_CACHE_HOME/muster/py-spy, else
// ~/.cache/muster/py-spy.
std::string FindPySpy();

// Reads the Python frames of all threads of process `pid` from its memory
// (process_vm_readv). The process is neither stopped nor signalled, so its
// system calls are not interrupted. Blocks for at most three seconds, and no
// longer than until `deadline`, or until `cancel_fd` becomes readable. The dump
// has at most `max_bytes`.
PythonStacks ReadPythonStacks(int64_t pid, Instant deadline, int cancel_fd,
                              size_t max_bytes);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_STACKS_PY_SPY_H_
