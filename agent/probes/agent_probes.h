#ifndef MUSTER_AGENT_PROBES_AGENT_PROBES_H_
#define MUSTER_AGENT_PROBES_AGENT_PROBES_H_

#include <memory>
#include <optional>

#include "absl/status/statusor.h"
#include "agent/agent_view.h"
#include "rendezvous/endpoint/endpoint.h"
#include "rendezvous/probes/probe_server.h"

namespace muster {

// Answers with what `view`, which outlives them, shows. An agent that has not
// turned yet is alive.
Probes ProbesOf(const AgentView* view);

// Serves them at `listen`; null where that is not given. Unavailable, one line:
// it cannot listen there.
absl::StatusOr<std::unique_ptr<ProbeServer>> ServeProbes(
    const std::optional<Endpoint>& listen, const AgentView* view);

}  // namespace muster

#endif  // MUSTER_AGENT_PROBES_AGENT_PROBES_H_
