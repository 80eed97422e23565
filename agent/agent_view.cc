#include "agent/agent_view.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace muster::agent {
namespace {

// The delay of the agent's loop that IsLive tolerates. The loop plans its
// iterations at most kLongestTurn apart. The agent counts as live if its newest
// iteration began at most kLongestTurn + kMaxLoopDelay ago. The tolerated delay
// is long, because on a busy machine the loop of a working agent may be late.
constexpr Duration kMaxLoopDelay = std::chrono::seconds(30);

}  // namespace

absl::Status IsReady(const AgentState& state) {
  if (state.leaving) {
    return absl::UnavailableError("this node is leaving the job");
  }
  if (state.phase == rendezvous::NodePhase::kRunning ||
      state.phase == rendezvous::NodePhase::kSucceeded) {
    return absl::OkStatus();
  }
  if (state.phase == rendezvous::NodePhase::kStopping) {
    return absl::UnavailableError(
        absl::StrCat("the workers of round ", state.round, " are stopped"));
  }
  if (!state.connected || !state.reached) {
    return absl::UnavailableError("not connected to the coordinator");
  }
  switch (state.health) {
    case rendezvous::Health::kHealthy:
      break;
    case rendezvous::Health::kUnchecked:
      return absl::UnavailableError("the node's checks have not ended yet");
    case rendezvous::Health::kUnhealthy:
      return absl::UnavailableError(
          absl::StrCat("unhealthy: ", state.unhealthy));
  }
  return absl::OkStatus();
}

absl::Status IsLive(const AgentState& state, Instant now) {
  const Duration since = now - state.turned;
  if (since <= kLongestTurn + kMaxLoopDelay) return absl::OkStatus();
  return absl::DeadlineExceededError(absl::StrCat(
      "the agent has not done anything for ", ToSeconds(since), " s"));
}

absl::Status IsStarted(const AgentState& state) {
  if (state.reached) return absl::OkStatus();
  return absl::UnavailableError("the coordinator has not answered yet");
}

void AgentView::Show(AgentState state) {
  std::lock_guard<std::mutex> lock(mutex_);
  state_ = std::move(state);
}

AgentState AgentView::Look() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return state_;
}

}  // namespace muster::agent
