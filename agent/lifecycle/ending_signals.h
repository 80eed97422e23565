#ifndef MUSTER_AGENT_LIFECYCLE_ENDING_SIGNALS_H_
#define MUSTER_AGENT_LIFECYCLE_ENDING_SIGNALS_H_

#include <vector>

namespace muster::agent {

// Whether a signal at a `launch` or agent ends the job, or this node's part of
// it. The lists are those of --signals-to-handle, --signals-to-forward and
// --signals-to-preempt; a later one wins where a signal is in several. SIGINT,
// SIGTERM, SIGHUP and SIGQUIT end it unless they are forwarded.
bool EndsJob(int signal, const std::vector<int>& handled,
             const std::vector<int>& forwarded,
             const std::vector<int>& preempting);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_LIFECYCLE_ENDING_SIGNALS_H_
