#ifndef MUSTER_RENDEZVOUS_EVENTS_EVENT_THROTTLE_H_
#define MUSTER_RENDEZVOUS_EVENTS_EVENT_THROTTLE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/time.h"
#include "rendezvous/protocol/job_status.h"

namespace muster::rendezvous {

// Limits the rate at which decisions are written to an event log. Without the
// limit, agents that join, are refused and leave again and again would fill the
// disk, or push earlier lines out of the rotated files. Pure.
//
// There are two classes of decisions, each with its own allowance: decisions
// that one node can cause alone (join, refuse, leave, lost, …), and decisions
// about a whole job (assign, break, failure, finish, …). An allowance is a
// burst, enough for 10,000 nodes that join together, plus a steady rate.
// Decisions above the allowance are counted by kind. The counts are written as
// one decision of the kind "omitted", at most once a second.
class EventThrottle {
 public:
  static constexpr int kBurst = 20'000;
  // The minimum interval between two written decisions after a burst (kBurst
  // decisions). kNodeInterval: between decisions about single nodes.
  // kJobInterval: between decisions about whole jobs.
  static constexpr Duration kNodeInterval = std::chrono::seconds(1);
  static constexpr Duration kJobInterval = std::chrono::milliseconds(100);
  static constexpr Duration kSummaryInterval = std::chrono::seconds(1);

  struct Result {
    // A summary decision with the numbers of omitted decisions, to be written
    // before the new decision; nullopt: no summary is due.
    std::optional<Decision> omitted;
    bool written = true;  // whether to write the new decision itself
  };
  // Decides whether `decision` is written to the event log. `now` must not be
  // earlier than in the previous call.
  Result Add(Instant now, const Decision& decision);
  // Returns one decision of the kind "omitted" with the counts that no earlier
  // result contained, and resets the counts; nullopt: no decision was omitted.
  std::optional<Decision> Rest();

 private:
  // The state of a rate limit by the generic cell rate algorithm. `full_at`:
  // the time at which the whole burst is available again.
  struct Allowance {
    Instant full_at;
    bool Take(Instant now, Duration interval);
  };

  Allowance nodes_;
  Allowance jobs_;
  // number of omitted decisions by kind
  std::map<std::string, int64_t> omitted_;
  Instant next_summary_;
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_EVENTS_EVENT_THROTTLE_H_
