#ifndef MUSTER_RENDEZVOUS_SERVER_DRIVEN_JOB_H_
#define MUSTER_RENDEZVOUS_SERVER_DRIVEN_JOB_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "rendezvous/job/job.h"
#include "rendezvous/protocol/job_status.h"
#include "rendezvous/server/alarm_thread.h"
#include "rendezvous/server/directive_sink.h"

namespace muster::rendezvous {

// The observers of a job's decisions. Calls them in the order of Note, one call
// at a time, whichever threads call Note and Tell. Thread-safe.
class JobWatchers {
 public:
  using Told = std::function<void(const Decision&)>;

  // `always` is called before the other observers; may be empty.
  explicit JobWatchers(Told always) : always_(std::move(always)) {}

  // Returns false if there are too many observers already.
  bool Add(uint64_t id, Told told);
  // Returns once `id` is not being called any more. Must not be called from an
  // observer.
  void Remove(uint64_t id);

  // Keeps `decisions` for the next Tell. Cheap: call it with the job's lock
  // held, so that the order is that of the decisions.
  void Note(std::vector<Decision> decisions);
  // Passes the noted decisions to the observers. If another thread is doing so,
  // that thread also passes on the new decisions, and Tell returns at once.
  // Must be called without the job's lock.
  void Tell();

 private:
  struct Watcher {
    explicit Watcher(Told fn) : told(std::move(fn)) {}
    std::mutex mutex;
    Told told;  // the observer's callback; empty once the observer is removed
  };

  const Told always_;
  std::mutex mutex_;
  std::vector<Decision> noted_;
  bool telling_ = false;
  std::map<uint64_t, std::shared_ptr<Watcher>> watchers_;
};

// Draws the secret key of each round (Place::channel_key). Not thread-safe.
class ChannelKeys {
 public:
  // Returns the key of `round`. Rounds are asked for in ascending order.
  const std::string& KeyOf(int round);

 private:
  int round_ = 0;  // the round of `key_`; 0: none
  std::string key_;
};

// Runs one job's state machine (Job, which does no I/O) under a lock: gives it
// the time and the agents' reports, and passes its directives and decisions on
// without holding the lock.
//
// Thread-safe, except that OnReport and OnStreamClosed of one stream must not
// run at the same time.
class DrivenJob : public std::enable_shared_from_this<DrivenJob> {
 public:
  struct Observer {
    JobWatchers::Told on_decision;  // Called for each decision; may be empty.
    // Called once, after the step that finished the job.
    std::function<void()> on_finished;
  };

  // `alarms` must outlive the job. `spec` must be valid. `run_tag`: as Job's.
  DrivenJob(std::string run_id, uint64_t epoch, const JobSpec& spec,
            std::string run_tag, AlarmThread* alarms, Observer observer);

  const std::string& run_id() const { return run_id_; }

  void OnReport(const std::shared_ptr<AttachedSink>& sink, Report report);
  void OnStreamClosed(StreamId stream);
  // Cancel and Drain return "" on success, else the reason of the refusal.
  std::string Cancel(const std::string& reason);
  std::string Drain(const std::string& node, const std::string& principal);

  JobStatus Status() const;
  JobStatus Summary() const;  // without `nodes`
  bool OwesVerdict() const;
  // Whether no agent is attached and no round has begun.
  bool NeverBegan() const;
  JobWatchers& watchers() { return watchers_; }

 private:
  std::string Step(const JobEvent& event,
                   const std::shared_ptr<AttachedSink>& sink);
  void OnAlarm(Instant when);
  // Sets an alarm for the job's next deadline, unless an earlier one is set.
  // Requires mutex_.
  void SetAlarm();

  const std::string run_id_;
  const Encryption encryption_;
  AlarmThread* const alarms_;
  const Observer observer_;
  JobWatchers watchers_;

  mutable std::mutex mutex_;
  Job job_;
  ChannelKeys keys_;
  std::unordered_map<StreamId, std::shared_ptr<AttachedSink>> sinks_;
  // The time of the alarm that is in effect. It may be earlier than the job's
  // next deadline, so that a report, which extends a lease, does not have to
  // set a new alarm.
  std::optional<Instant> alarm_;
  bool told_finished_ = false;
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_SERVER_DRIVEN_JOB_H_
