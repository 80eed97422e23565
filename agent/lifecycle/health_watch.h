#ifndef MUSTER_AGENT_LIFECYCLE_HEALTH_WATCH_H_
#define MUSTER_AGENT_LIFECYCLE_HEALTH_WATCH_H_

#include <cstdint>
#include <optional>
#include <string>

#include "base/time.h"
#include "rendezvous/protocol/report.h"

namespace muster::agent {

// Decides when a node's health is checked. A check is due when the agent
// starts, and after the end of each round. Until the check ends, the node's
// health is unknown. A waiting node is checked again at intervals: a repaired
// node is then admitted, and a node that has become unhealthy is not. No check
// runs during a round. Pure.
class HealthWatch {
 public:
  // `interval` is the time from the end of a check to the next check. With
  // nullopt no checks are made, and the node counts as healthy.
  explicit HealthWatch(std::optional<Duration> interval);

  // Stops the checks until the round ends. Returns true if a running check must
  // be cancelled.
  bool RoundBegan();
  void RoundEnded();

  // The number of the check that must start now; nullopt: no check is due.
  std::optional<uint64_t> Due(Instant now);
  // Records the result of check number `check`; an empty `unhealthy` means
  // healthy. Returns true if the node's health has changed. Results of old
  // checks are ignored.
  bool Found(Instant now, uint64_t check, const std::string& unhealthy);
  // Stops all further checks. Returns true if a running check must be
  // cancelled.
  bool Stop();

  // The latest time for the next call of Due; nullopt: no check is planned.
  std::optional<Instant> NextCheck() const;

  rendezvous::Health health() const { return health_; }
  const std::string& unhealthy() const { return unhealthy_; }

 private:
  bool MayStart() const;

  const std::optional<Duration> interval_;
  rendezvous::Health health_;
  std::string unhealthy_;
  bool stopped_ = false;
  bool round_runs_ = false;
  uint64_t check_ = 0;  // number of the newest check
  bool under_way_ = false;
  // time of the next check; nullopt: a check is due at once
  std::optional<Instant> next_;
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_LIFECYCLE_HEALTH_WATCH_H_
