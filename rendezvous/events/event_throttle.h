#ifndef MUSTER_RENDEZVOUS_EVENTS_EVENT_THROTTLE_H_
#define MUSTER_RENDEZVOUS_EVENTS_EVENT_THROTTLE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/time.h"
#include "rendezvous/protocol/job_status.h"

namespace muster::rendezvous {

// Bounds the rate at which decisions are written to an event log, so that
// agents that join, are refused and leave without end neither fill the disk nor
// rotate the earlier lines away. Pure.
//
// Two classes of decisions have an allowance each: those that one node causes
// alone (join, refuse, leave, lost, …), and those of a whole job (assign,
// break, failure, finish, …). An allowance is a burst, as of 10,000 nodes that
// join together, and a rate. Decisions beyond it are counted by kind, and the
// counts written as one decision of the kind "omitted", once a second at most.
class EventThrottle {
 public:
  static constexpr int kBurst = 20'000;
  // Interval of the decisions beyond a burst.
  static constexpr Duration kNodeInterval = std::chrono::seconds(1);
  static constexpr Duration kJobInterval = std::chrono::milliseconds(100);
  static constexpr Duration kSummaryInterval = std::chrono::seconds(1);

  struct Result {
    // Written before the decision; nullopt: nothing to tell now.
    std::optional<Decision> omitted;
    bool written = true;  // whether the decision itself is written
  };
  // `now` must not decrease.
  Result Add(Instant now, const Decision& decision);
  // The counts that have not been told yet; nullopt: none.
  std::optional<Decision> Rest();

 private:
  // The generic cell rate algorithm: the time at which the allowance would be
  // full again.
  struct Allowance {
    Instant full_at;
    bool Take(Instant now, Duration interval);
  };

  Allowance nodes_;
  Allowance jobs_;
  std::map<std::string, int64_t> omitted_;  // number of decisions by kind
  Instant next_summary_;
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_EVENTS_EVENT_THROTTLE_H_
