#include "agent/probes/agent_probes.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/monotonic_clock.h"

namespace muster::agent {

rendezvous::Probes ProbesOf(const AgentView* view, AlsoLive also_live) {
  rendezvous::Probes probes;
  probes.live = [view, also_live = std::move(also_live)] {
    const AgentState state = view->Look();
    const absl::Status live = state.turned == Instant()
                                  ? absl::OkStatus()
                                  : IsLive(state, MonotonicNow());
    return live.ok() && also_live ? also_live() : live;
  };
  probes.started = [view] { return IsStarted(view->Look()); };
  probes.ready = [view] { return IsReady(view->Look()); };
  return probes;
}

absl::StatusOr<std::unique_ptr<rendezvous::ProbeServer>> ServeProbes(
    const std::optional<rendezvous::Endpoint>& listen, const AgentView* view,
    AlsoLive also_live) {
  if (!listen) return nullptr;
  auto server = rendezvous::ProbeServer::Start(
      *listen, ProbesOf(view, std::move(also_live)));
  if (server.ok()) return server;
  return absl::UnavailableError(
      absl::StrCat("--probe-listen: ", server.status().message()));
}

}  // namespace muster::agent
