#ifndef MUSTER_RENDEZVOUS_EVENTS_STATE_RECORDER_H_
#define MUSTER_RENDEZVOUS_EVENTS_STATE_RECORDER_H_

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "absl/status/statusor.h"
#include "rendezvous/events/state_schedule.h"
#include "rendezvous/protocol/job_status.h"

namespace muster::rendezvous {

// Writes the states of a coordinator's jobs to an event log at the times of
// StateSchedule. Thread-safe. OnDecision may be called before Begin.
class StateRecorder {
 public:
  StateRecorder() = default;
  ~StateRecorder() { Finish(); }
  StateRecorder(const StateRecorder&) = delete;
  StateRecorder& operator=(const StateRecorder&) = delete;

  // Returns the current state of the job with this run id, or NotFound.
  using Read = std::function<absl::StatusOr<JobStatus>(const std::string&)>;
  // Writes the state of a job to the event log.
  using Write = std::function<void(const JobStatus&, StateDetail)>;
  // Starts the thread that reads and writes states. This thread calls `read`
  // and `write` until Finish returns.
  void Begin(Read read, Write write);

  // Must be called for each decision on a job, because a decision may change
  // the time at which the job's state is written next. Does not block.
  void OnDecision(const std::string& run_id, const Decision& decision);

  // Writes the states that are due now and ends the thread.
  void Finish();

 private:
  void Run(const Read& read, const Write& write);

  std::mutex mutex_;  // guards the next three fields
  std::condition_variable changed_;
  StateSchedule schedule_;
  bool is_ending_ = false;
  std::thread thread_;  // used by Begin and Finish only
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_EVENTS_STATE_RECORDER_H_
