#ifndef MUSTER_AGENT_PROBES_AGENT_PROBES_H_
#define MUSTER_AGENT_PROBES_AGENT_PROBES_H_

#include <memory>
#include <optional>

#include "absl/status/statusor.h"
#include "agent/agent_view.h"
#include "rendezvous/endpoint/endpoint.h"
#include "rendezvous/probes/probe_server.h"

namespace muster::agent {

// Answers with what `view`, which outlives them, shows. An agent that has not
// turned yet is alive.
rendezvous::Probes ProbesOf(const AgentView* view);

// Serves them at `listen`; null where that is not given. Unavailable, one line:
// it cannot listen there.
absl::StatusOr<std::unique_ptr<rendezvous::ProbeServer>> ServeProbes(
    const std::optional<rendezvous::Endpoint>& listen, const AgentView* view);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_PROBES_AGENT_PROBES_H_
