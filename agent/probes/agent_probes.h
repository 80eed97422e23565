#ifndef MUSTER_AGENT_PROBES_AGENT_PROBES_H_
#define MUSTER_AGENT_PROBES_AGENT_PROBES_H_

#include <functional>
#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "agent/agent_view.h"
#include "rendezvous/endpoint/endpoint.h"
#include "rendezvous/probes/probe_server.h"

namespace muster::agent {

// A further condition of liveness, such as that of the coordinator inside of
// `launch`; empty: none. Must not block.
using AlsoLive = std::function<absl::Status()>;

// The probes' answers from the state in `view`, which must outlive them. An
// agent whose loop has not turned yet counts as alive.
rendezvous::Probes ProbesOf(const AgentView* view, AlsoLive also_live = {});

// Serves the probes on `listen`; null if no address is given. Unavailable, one
// line: the address cannot be listened on.
absl::StatusOr<std::unique_ptr<rendezvous::ProbeServer>> ServeProbes(
    const std::optional<rendezvous::Endpoint>& listen, const AgentView* view,
    AlsoLive also_live = {});

}  // namespace muster::agent

#endif  // MUSTER_AGENT_PROBES_AGENT_PROBES_H_
