#ifndef MUSTER_AGENT_LIFECYCLE_ENDING_SIGNALS_H_
#define MUSTER_AGENT_LIFECYCLE_ENDING_SIGNALS_H_

#include <vector>

namespace muster::agent {

// Whether a signal to `launch` or an agent ends the job, or this node's part of
// it. The arguments are the lists of --signals-to-handle, --signals-to-forward
// and --signals-to-preempt; if a signal is in several lists, the last of them
// wins. SIGINT, SIGTERM, SIGHUP and SIGQUIT end the job unless they are
// forwarded.
bool EndsJob(int signal, const std::vector<int>& handled,
             const std::vector<int>& forwarded,
             const std::vector<int>& preempting);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_LIFECYCLE_ENDING_SIGNALS_H_
