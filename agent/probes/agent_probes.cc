#include "agent/probes/agent_probes.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/monotonic_clock.h"

namespace muster::agent {

rendezvous::Probes ProbesOf(const AgentView* view) {
  rendezvous::Probes probes;
  probes.live = [view] {
    const AgentState state = view->Look();
    return state.turned == Instant() ? absl::OkStatus()
                                     : IsLive(state, MonotonicNow());
  };
  probes.started = [view] { return IsStarted(view->Look()); };
  probes.ready = [view] { return IsReady(view->Look()); };
  return probes;
}

absl::StatusOr<std::unique_ptr<rendezvous::ProbeServer>> ServeProbes(
    const std::optional<rendezvous::Endpoint>& listen, const AgentView* view) {
  if (!listen) return nullptr;
  auto server = rendezvous::ProbeServer::Start(*listen, ProbesOf(view));
  if (server.ok()) return server;
  return absl::UnavailableError(
      absl::StrCat("--probe-listen: ", server.status().message()));
}

}  // namespace muster::agent
