#ifndef MUSTER_AGENT_PROBES_AGENT_PROBES_H_
#define MUSTER_AGENT_PROBES_AGENT_PROBES_H_

#include <memory>
#include <optional>

#include "absl/status/statusor.h"
#include "agent/agent_view.h"
#include "rendezvous/endpoint/endpoint.h"
#include "rendezvous/probes/probe_server.h"

namespace muster::agent {

// The probes' answers from the state in `view`, which must outlive the probes.
// Until the agent's event loop has run once, the agent counts as alive.
rendezvous::Probes ProbesOf(const AgentView* view);

// Serves the probes on `listen`; null if no address is given. Unavailable, one
// line: the address cannot be listened on.
absl::StatusOr<std::unique_ptr<rendezvous::ProbeServer>> ServeProbes(
    const std::optional<rendezvous::Endpoint>& listen, const AgentView* view);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_PROBES_AGENT_PROBES_H_
