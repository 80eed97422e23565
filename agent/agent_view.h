#ifndef MUSTER_AGENT_AGENT_VIEW_H_
#define MUSTER_AGENT_AGENT_VIEW_H_

#include <mutex>
#include <string>

#include "absl/status/status.h"
#include "base/time.h"
#include "rendezvous/protocol/report.h"

namespace muster::agent {

// What an agent is, as far as those who look at it from outside need it.
struct AgentState {
  rendezvous::NodePhase phase = rendezvous::NodePhase::kIdle;
  int round = 0;           // 0: it has run none yet
  bool connected = false;  // to the coordinator, now
  bool reached = false;    // the coordinator has answered once
  rendezvous::Health health = rendezvous::Health::kHealthy;
  std::string unhealthy;  // why, if it is
  bool leaving = false;
  Instant turned;  // when its loop last turned
};

// An agent's loop turns at least this often, whatever happens.
inline constexpr Duration kLongestTurn = std::chrono::seconds(5);

// The probes' questions; an error says in one line why not.
//
// Ready: it runs its part of a world, or waits for one, healthy and connected.
absl::Status IsReady(const AgentState& state);
// Live: its loop has turned lately.
absl::Status IsLive(const AgentState& state, Instant now);
// Started: it has reached the coordinator once.
absl::Status IsStarted(const AgentState& state);

// The newest state of an agent, for other threads. Thread-safe.
class AgentView {
 public:
  void Show(AgentState state);
  AgentState Look() const;

 private:
  mutable std::mutex mutex_;
  AgentState state_;  // guarded by mutex_
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_AGENT_VIEW_H_
