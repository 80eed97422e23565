#ifndef MUSTER_AGENT_AGENT_VIEW_H_
#define MUSTER_AGENT_AGENT_VIEW_H_

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/time.h"
#include "rendezvous/protocol/progress.h"
#include "rendezvous/protocol/report.h"
#include "rendezvous/protocol/time_ledger.h"
#include "store/server/store_load.h"

namespace muster::agent {

// Numbers of bytes of the workers' output since the agent's start.
struct OutputBytes {
  int64_t written = 0;  // written by the workers
  // missing on this process's stdout and stderr (Console::missing)
  int64_t console_missing = 0;
  // missed by readers that follow the output (RecentOutput::Sums)
  int64_t follower_skipped = 0;
};

// The part of an agent's state from which IsReady, IsLive and IsStarted answer
// probes, and from which the node's metrics are made.
struct AgentState {
  rendezvous::NodePhase phase = rendezvous::NodePhase::kIdle;
  int round = 0;           // this node's newest round; 0: none yet
  bool connected = false;  // whether this node is connected to the coordinator
  bool reached = false;    // whether the coordinator has ever answered
  rendezvous::Health health = rendezvous::Health::kHealthy;
  std::string unhealthy;  // why the node is unhealthy; empty if it is healthy
  bool leaving = false;
  rendezvous::TimeLedger time;
  // Progress of the workers that have reported in the current round.
  std::vector<rendezvous::WorkerProgress> progress;
  OutputBytes output;
  // The load of the workers' store; nullopt: this node has not served it.
  std::optional<store::StoreLoad> store;
  Instant turned;  // start of the newest iteration of the agent's loop
};

// The longest planned time between two iterations of an agent's loop.
inline constexpr Duration kLongestTurn = std::chrono::seconds(5);

// The answers to Kubernetes-style probes. An error contains one line with the
// reason.
//
// Ready: this node takes part in a round, or waits for a round while it is
// healthy and connected. Not ready: the node leaves the job, or stops a round's
// workers.
absl::Status IsReady(const AgentState& state);
// Live: the newest iteration of the agent's loop began a short time ago.
absl::Status IsLive(const AgentState& state, Instant now);
// Started: the agent has reached the coordinator at least once.
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
