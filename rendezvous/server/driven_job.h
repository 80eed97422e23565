#ifndef MUSTER_RENDEZVOUS_SERVER_DRIVEN_JOB_H_
#define MUSTER_RENDEZVOUS_SERVER_DRIVEN_JOB_H_

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/time.h"
#include "rendezvous/job/job.h"
#include "rendezvous/journal/record_store.h"
#include "rendezvous/protocol/job_status.h"
#include "rendezvous/server/alarm_thread.h"
#include "rendezvous/server/directive_sink.h"
#include "rendezvous/wire/record_wire.h"

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
  // Continues with the key of `round`, if it has one.
  void Restore(int round, const std::string& key);
  // Returns the key of `round`. Rounds are asked for in ascending order.
  const std::string& KeyOf(int round);

 private:
  int round_ = 0;  // the round of `key_`; 0: none
  std::string key_;
};

// Runs one job's state machine (Job, which does no I/O) under a lock: gives it
// the time and the agents' reports, and passes its directives and decisions on
// without holding the lock. With a record store, the directives and decisions
// of a step that has changed the job's record, and those of all later steps,
// are held back until the record is durable.
//
// Thread-safe, except that OnReport and OnStreamClosed of one stream must not
// run at the same time.
class DrivenJob : public std::enable_shared_from_this<DrivenJob> {
 public:
  struct Observer {
    JobWatchers::Told on_decision;  // Called for each decision; may be empty.
    // Called once, after the step that finished the job.
    std::function<void()> on_finished;
    // Called once, after the step that deposed the job (JobStep::deposed) and
    // before the decisions of this step are told. The job takes no events any
    // more.
    std::function<void()> on_deposed;
  };

  // Maximum time for which an operator's answer waits for a record store that
  // does not call back. A sound store needs about one second, even on a disk
  // that hangs (PendingRecords::Limits).
  static constexpr Duration kMaxWriteWait = std::chrono::seconds(10);

  // The objects that a job uses; each must outlive the job.
  struct Surroundings {
    AlarmThread* alarms = nullptr;
    RecordStore* records = nullptr;  // null: records are not kept
    // Whether this coordinator, one of several with the same records, leads.
    // The job takes no events any more once the answer is no. Any thread, with
    // the job's lock held. Empty: the coordinator is the only one.
    std::function<bool()> leads;
    std::string own_endpoint;  // as Job's
    Duration max_write_wait = kMaxWriteWait;
  };

  // A new job. `spec` must be valid. `run_tag`: as Job's. `owner`: the account
  // to which the job is charged.
  DrivenJob(std::string run_id, uint64_t epoch, const JobSpec& spec,
            std::string run_tag, JobOwner owner, Surroundings surroundings,
            Observer observer);
  // Continues a job of another coordinator; call Resume once a shared_ptr holds
  // the object.
  DrivenJob(const KeptJob& kept, uint64_t epoch, Surroundings surroundings,
            Observer observer);
  // Sets the alarm for the job's first deadline.
  void Resume();

  const std::string& run_id() const { return run_id_; }

  // Steps with the newest reports of streams that the job has not met, and
  // returns the function that passes the results on. The function must be
  // called without the locks that the callers of OnReport may wait for.
  using Reports = std::vector<std::pair<std::shared_ptr<AttachedSink>, Report>>;
  std::function<void()> Begin(const Reports& reports);

  void OnReport(const std::shared_ptr<AttachedSink>& sink, Report report);
  void OnStreamClosed(StreamId stream);
  void OnAgentDied(const std::string& node_id);
  // Cancel and Drain carry out an operator's request and return "", or return
  // the reason why the job refuses the request. Both block until the record
  // store has called back for the job's changed record, but at most for
  // Surroundings::max_write_wait. Any thread.
  std::string Cancel(const std::string& reason);
  std::string Drain(const std::string& node, const std::string& principal);
  // The coordinator with `epoch` announces itself.
  void OnCoordinatorTold(const CoordinatorTold& told);

  // The standing of its coordinator among others.
  struct Standing {
    uint64_t epoch = 0;                 // 0: the job is deposed
    bool has_majority = false;          // Job::MayAnnounce
    bool must_ask = false;              // Job::MayAsk
    std::vector<std::string> standbys;  // Job::standbys
  };
  Standing standing() const;

  bool finished() const;
  JobStatus Status() const;
  JobStatus Summary() const;  // without `nodes`
  bool OwesVerdict() const;
  // Whether no agent is attached and no round has begun.
  bool NeverBegan() const;
  JobWatchers& watchers() { return watchers_; }

 private:
  // The results of a step for others: agents, watchers, the observer.
  struct News {
    std::vector<std::pair<std::shared_ptr<AttachedSink>, Directive>> deliveries;
    std::vector<Decision> decisions;  // empty once the watchers have them
    bool has_decisions = false;
    bool has_finished = false;
    bool is_deposed = false;
  };

  std::string Step(const JobEvent& event,
                   const std::shared_ptr<AttachedSink>& sink);
  // The part of Step for which the lock is held. Requires mutex_.
  News StepLocked(const JobEvent& event,
                  const std::shared_ptr<AttachedSink>& sink,
                  std::string* refusal);
  // Gives the deliveries of `step` their streams. Requires mutex_.
  News NewsOf(JobStep step);
  // Takes `news` if they must wait until a record is durable. Requires mutex_.
  void Hold(News& news);
  // Writes the record, if it has changed and no other write is in progress.
  // Requires mutex_.
  void Write();
  void OnWritten();
  // Waits until the store has called back for all changes so far, at most
  // Surroundings::max_write_wait.
  void AwaitWritten();
  void Tell(const News& news);
  void OnAlarm(Instant when);
  // Sets an alarm for the job's next deadline, unless an earlier one is set.
  // Requires mutex_.
  void SetAlarm();

  const std::string run_id_;
  const Encryption encryption_;
  const JobOwner owner_;
  const Surroundings surroundings_;
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
  bool deposed_ = false;

  // Changes of the record have numbers: 1, 2, 3, ….
  uint64_t changes_ = 0;  // number of the newest change
  uint64_t written_ = 0;  // newest change in the last write that was begun
  uint64_t durable_ = 0;  // newest change that is durable
  std::vector<News> in_write_;  // held back until the write in progress ends
  std::vector<News> later_;     // held back until the write after it ends
  std::condition_variable was_written_;
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_SERVER_DRIVEN_JOB_H_
