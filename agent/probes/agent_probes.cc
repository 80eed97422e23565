#include "agent/probes/agent_probes.h"

#include <utility>

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

}  // namespace muster::agent
