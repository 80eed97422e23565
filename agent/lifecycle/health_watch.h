#ifndef MUSTER_AGENT_LIFECYCLE_HEALTH_WATCH_H_
#define MUSTER_AGENT_LIFECYCLE_HEALTH_WATCH_H_

#include <cstdint>
#include <optional>
#include <string>

#include "base/time.h"
#include "rendezvous/protocol/report.h"

namespace muster::agent {

// When a node is checked, and what it is taken for: unchecked from the end of a
// round until the first check after it has ended; checked again, at intervals,
// for as long as it waits, so that what is unhealthy can come in and what has
// become unhealthy while it waited stays out. A running round is left alone.
// Pure.
class HealthWatch {
 public:
  // `interval`: from the end of a check to the next one; nothing: there are no
  // checks, and the node is healthy.
  explicit HealthWatch(std::optional<Duration> interval);

  // Whether a check is under way that must be dropped.
  bool RoundBegan();
  void RoundEnded();

  // A check's number, if one is due.
  std::optional<uint64_t> Due(Instant now);
  // Whether that changes what the node is. Those of old numbers do not.
  bool Found(Instant now, uint64_t check, const std::string& unhealthy);
  // No check will be needed any more: as RoundBegan.
  bool Stop();

  // When Due must be asked at the latest; nothing: not by time.
  std::optional<Instant> NextCheck() const;

  rendezvous::Health health() const { return health_; }
  const std::string& unhealthy() const { return unhealthy_; }

 private:
  const std::optional<Duration> interval_;
  rendezvous::Health health_;
  std::string unhealthy_;
  bool stopped_ = false;  // a round runs
  uint64_t check_ = 0;    // the newest
  bool under_way_ = false;
  std::optional<Instant> next_;  // nothing: at once
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_LIFECYCLE_HEALTH_WATCH_H_
