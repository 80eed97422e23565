#ifndef MUSTER_AGENT_PROBES_AGENT_PROBES_H_
#define MUSTER_AGENT_PROBES_AGENT_PROBES_H_

#include <functional>

#include "absl/status/status.h"
#include "agent/agent_view.h"
#include "rendezvous/probes/probe_server.h"

namespace muster::agent {

// A condition of the liveness probe in addition to the agent's own state, such
// as the health of the coordinator inside `launch`; empty: no further
// condition. Must not block.
using AlsoLive = std::function<absl::Status()>;

// The answers of the probes, from the agent's state in `view`, which must
// outlive the result. An agent whose event loop has not run yet counts as
// alive.
rendezvous::Probes ProbesOf(const AgentView* view, AlsoLive also_live = {});

}  // namespace muster::agent

#endif  // MUSTER_AGENT_PROBES_AGENT_PROBES_H_
