#ifndef MUSTER_RENDEZVOUS_EVENTS_STATE_SCHEDULE_H_
#define MUSTER_RENDEZVOUS_EVENTS_STATE_SCHEDULE_H_

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "rendezvous/events/status_json.h"
#include "rendezvous/protocol/job_status.h"

namespace muster::rendezvous {

// Decides when the states of jobs are written to the event log. Even if the
// coordinator is killed, the log then shows each job's progress and how the job
// spent its time. Pure.
//
// A state is written when a round begins or breaks and when the job ends. In
// between, states are written at intervals that grow with the age of the job
// and of its phase. So a job that lasts a month has about 2,000 states, in
// addition to the states at the beginnings and ends of its rounds.
class StateSchedule {
 public:
  static constexpr Duration kMinInterval = std::chrono::seconds(1);
  static constexpr Duration kMaxInterval = std::chrono::hours(1);
  // The time from one written state of a job to the next, unless a round begins
  // or breaks before: the job's age divided by kAgeParts, or the age of its
  // phase divided by kPhaseParts, whichever is shorter. At least kMinInterval,
  // at most kMaxInterval.
  static constexpr int kAgeParts = 200;
  static constexpr int kPhaseParts = 4;
  // Maximum number of jobs that one call of TakeDue returns. If a call returns
  // this many jobs, the caller waits at least kPause before the next call.
  static constexpr size_t kMaxDue = 16;
  static constexpr Duration kPause = std::chrono::milliseconds(250);

  // Handles a decision about a job. If the decision begins or breaks a round or
  // ends the job, the next call of TakeDue returns the job, so that its state
  // is written at once.
  void OnDecision(const std::string& run_id, const std::string& kind,
                  Instant now);

  struct Due {
    std::string run_id;
    StateDetail detail = StateDetail::kSummary;
    bool operator==(const Due&) const = default;
  };
  // Returns the jobs whose states must be written now, the earliest due first.
  // A returned job is due again only after OnState or a decision has set the
  // next time.
  std::vector<Due> TakeDue(Instant now);
  // Takes the state of a job that TakeDue has returned, and sets the time at
  // which the job's state must be written next. No state of a finished job
  // follows.
  void OnState(const JobStatus& job, Instant now);
  // Forgets a job that no longer exists.
  void Forget(const std::string& run_id) { jobs_.erase(run_id); }

  // The earliest time at which the state of any job must be written; nullopt:
  // no state is planned.
  std::optional<Instant> NextDue() const;

 private:
  struct Plan {
    // When the job's next state must be written; nullopt: not planned yet,
    // because TakeDue has returned the job.
    std::optional<Instant> due;
    StateDetail detail = StateDetail::kSummary;
  };
  // The unfinished jobs; the coordinator limits their number.
  std::map<std::string, Plan> jobs_;
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_EVENTS_STATE_SCHEDULE_H_
