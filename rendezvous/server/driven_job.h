#ifndef MUSTER_RENDEZVOUS_SERVER_DRIVEN_JOB_H_
#define MUSTER_RENDEZVOUS_SERVER_DRIVEN_JOB_H_

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "base/time.h"
#include "rendezvous/job/job.h"
#include "rendezvous/journal/held_results.h"
#include "rendezvous/journal/record_store.h"
#include "rendezvous/protocol/job_status.h"
#include "rendezvous/server/alarm_thread.h"
#include "rendezvous/server/directive_sink.h"
#include "rendezvous/server/host_watch.h"
#include "rendezvous/server/inquiry_session.h"
#include "rendezvous/server/job_inquiries.h"
#include "rendezvous/wire/record_wire.h"

namespace muster::rendezvous {

// The observers of a job's decisions. Note queues decisions; Tell calls the
// observers, one at a time, with the decisions in the order in which they were
// queued. Any thread may call Note and Tell. Thread-safe.
class JobWatchers {
 public:
  using Told = std::function<void(const Decision&)>;

  // The number of newest decisions that are kept for observers that have missed
  // them.
  static constexpr size_t kMaxKept = 64;

  // `always`: an observer that is called before all others; may be empty.
  // `epoch`: the coordinator's first epoch.
  explicit JobWatchers(Told always, uint64_t epoch = 0)
      : always_(std::move(always)), epoch_(epoch) {}

  // Adds an observer that is called with each later decision. `cursor`: the
  // newest decision that the observer knows, of this or another coordinator;
  // Add moves it to the newest decision so far, and returns the decisions in
  // between. nullopt: there are already too many observers.
  std::optional<MissedDecisions> Add(uint64_t id, DecisionCursor* cursor,
                                     Told told);
  // Removes an observer. Returns once it is not being called any more. An
  // observer must not call Remove.
  void Remove(uint64_t id);

  // Queues `decisions` for the next Tell. Cheap. Call it with the job's lock
  // held, so that the decisions are queued in their order.
  void Note(std::vector<Decision> decisions);
  // Passes the queued decisions to the observers. If another thread is already
  // in Tell, that thread also passes these decisions, and this call returns at
  // once. Must be called without the job's lock.
  void Tell();

 private:
  struct Watcher {
    explicit Watcher(Told fn) : told(std::move(fn)) {}
    std::mutex mutex;
    Told told;  // the callback; empty: the observer was removed
  };

  const Told always_;
  const uint64_t epoch_;
  std::mutex mutex_;  // guards the fields below
  std::vector<Decision> noted_;
  std::deque<Decision> kept_;  // newest decisions that Tell gave to observers
  uint64_t told_ = 0;          // number of decisions that Tell has passed on
  bool telling_ = false;
  std::map<uint64_t, std::shared_ptr<Watcher>> watchers_;
};

// Creates the secret key of each round (Place::channel_key), or of each round
// of a check by pairs (PairCheck::key). Not thread-safe.
class ChannelKeys {
 public:
  // Makes KeyOf(round) return `key`, which an earlier coordinator created for
  // `round`. Does nothing unless `key` has kChannelKeyBytes bytes.
  void Restore(uint64_t round, const std::string& key);
  // Returns the key of `round`. Rounds must be requested in ascending order.
  const std::string& KeyOf(uint64_t round);

 private:
  uint64_t round_ = 0;  // round whose secret key is in key_; 0: no key yet
  std::string key_;
};

// Runs one job's state machine (Job, which does no I/O) under a lock. Passes
// the time and the agents' reports to it, and sends its directives and
// decisions without holding the lock.
//
// With a record store: if a step changes the job's record, the directives and
// decisions of this step and of later steps are held back until the record is
// durable.
//
// Thread-safe, except that OnReport and OnStreamClosed of one stream must not
// run at the same time.
class DrivenJob : public std::enable_shared_from_this<DrivenJob> {
 public:
  struct Observer {
    JobWatchers::Told on_decision;  // called for each decision; may be empty
    // Called once, after the step in which the job finished.
    std::function<void()> on_finished;
    // Called once, after the step that deposed the job (JobStep::deposed), and
    // before the decisions of this step are passed on. The job handles no
    // events after that.
    std::function<void()> on_deposed;
  };

  // Longest time for which an operator's request waits for a record store that
  // does not call back. A working store needs about one second, even if the
  // disk hangs (PendingRecords::Limits).
  static constexpr Duration kMaxWriteWait = std::chrono::seconds(10);

  // The objects that a job uses; all must outlive the job.
  struct Surroundings {
    AlarmThread* alarms = nullptr;
    RecordStore* records = nullptr;  // null: no records are kept
    // Null: faults of machines are not recorded.
    HostWatch* hosts = nullptr;
    // Whether this coordinator is the leader of several that share the records.
    // After the first false, the job handles no more events. Called from any
    // thread, with the job's lock held. An empty function: the coordinator is
    // the only one.
    std::function<bool()> leads;
    // Endpoint of this coordinator (JobState::own_endpoint); empty: no other
    // process can take over.
    std::string own_endpoint;
    Duration max_write_wait = kMaxWriteWait;
  };

  // Begins a new job. `spec` must be valid. `run_tag`: names the run's
  // log folder (Place::run_tag). `owner`: the account to which the job is
  // charged.
  DrivenJob(std::string run_id, uint64_t epoch, const JobSpec& spec,
            std::string run_tag, JobOwner owner, Surroundings surroundings,
            Observer observer);
  // Continues a job of another coordinator. Call Resume once a shared_ptr holds
  // the object.
  DrivenJob(const KeptJob& kept, uint64_t epoch, Surroundings surroundings,
            Observer observer);
  // Sets an alarm, which calls this object, for the first deadline of a job
  // that another coordinator has begun.
  void Resume();
  // Takes round number, used restarts, age and verdict from `kept`, the record
  // of a job whose nodes are expected to know no round of it (Job::Recall).
  // Call it before the first report.
  void Recall(const KeptJob& kept);
  // Takes over what an earlier coordinator has handed over (Job::Inherit). Call
  // it before the first report.
  void Inherit(const Handover& handover);
  // The job's record, as of now.
  KeptJob Record() const;

  const std::string& run_id() const { return run_id_; }

  // The newest report of each of several agents, with the sink for the agent's
  // directives.
  using Reports = std::vector<std::pair<std::shared_ptr<AttachedSink>, Report>>;
  // Handles reports from streams that are new to the job. Returns a function
  // that sends the results. The caller must call this function, without holding
  // any lock for which a caller of OnReport may wait.
  std::function<void()> Begin(const Reports& reports);

  void OnReport(const std::shared_ptr<AttachedSink>& sink, Report report);
  void OnStreamClosed(StreamId stream);
  void OnAgentDied(const std::string& node_id);
  // Cancel ends the job, and Drain removes a node from it, at an operator's
  // request. Each returns "" once the job has carried out the request, or the
  // reason why the job refuses it. Each blocks until the record store has
  // called back for the job's changed record, at most for
  // Surroundings::max_write_wait. Any thread.
  std::string Cancel(const std::string& reason);
  std::string Drain(const std::string& node, const std::string& principal);
  // Tells the job at once which machines are suspected or quarantined now.
  // Without this call, the job would learn it only with its next event.
  void OnHostsJudged();
  // Handles an announcement of another coordinator or standby of this job.
  void OnCoordinatorTold(const CoordinatorTold& told);

  // Opens an inquiry: a question of an operator (`launch logs`, `launch
  // stacks`) to nodes of the job. `node`: only nodes with this node id or host
  // name; empty: all nodes. Call EndInquiry afterwards. InvalidArgument: no
  // node is called `node`, or a rank in the question (Inquiry::ranks) does not
  // exist. FailedPrecondition: the job has no workers. ResourceExhausted: too
  // many inquiries are open. Unavailable: this coordinator does not coordinate
  // the job any more.
  absl::Status Inquire(const std::shared_ptr<InquirySession>& session,
                       const std::string& node);
  // Ends an inquiry (an operator's question to the nodes): the nodes stop
  // answering it.
  void EndInquiry(const std::shared_ptr<InquirySession>& session);
  // Returns the open inquiry whose id for one of the nodes is `id`; null: none.
  // An inquiry has a different id (Inquiry::id) for each node.
  std::shared_ptr<InquirySession> FindInquiry(uint64_t id) const;

  // The facts that decide what this job's coordinator announces to other
  // coordinators.
  struct Standing {
    uint64_t epoch = 0;  // the coordinator's epoch; 0: deposed
    // Whether the coordinator may announce itself (Job::MayAnnounce).
    bool has_majority = false;
    // Whether the coordinator must ask other processes whether there is a newer
    // coordinator (Job::MayAsk).
    bool must_ask = false;
    // Whether the job needs another node to form a world (Job::AwaitsNodes).
    bool awaits_nodes = false;
    std::vector<std::string> standbys;  // endpoints of the standbys
  };
  Standing standing() const;

  bool finished() const;
  JobStatus Status() const;
  JobStatus Summary() const;  // Status() without JobStatus::nodes
  bool OwesVerdict() const;
  // Whether no agent is attached and the job has begun no round.
  bool NeverBegan() const;
  JobWatchers& watchers() { return watchers_; }

 private:
  // News: the results of a step that must be sent to agents, watchers and the
  // observer. Addressee: a directive, and the sink to which it must be sent.
  using Addressee = std::pair<std::shared_ptr<AttachedSink>, Directive>;
  struct News {
    std::vector<Addressee> deliveries;
    std::vector<Decision> decisions;  // emptied once passed to the watchers
    bool has_decisions = false;
    bool has_finished = false;
    bool is_deposed = false;
  };

  // Whether another process coordinates the job now, so that this one must send
  // no directives. Asks Surroundings::leads: if this process was suspended,
  // another coordinator may be the leader now. Requires mutex_.
  bool IsDeposed();
  std::string Step(const JobEvent& event,
                   const std::shared_ptr<AttachedSink>& sink);
  // The part of Step that needs the lock. Requires mutex_.
  News StepLocked(const JobEvent& event,
                  const std::shared_ptr<AttachedSink>& sink,
                  std::string* refusal);
  // Passes three things to the job, in this order: the newest judgement of the
  // machines (which of them are suspected or quarantined), if it is new; the
  // event; and, if the event has shown faults of machines, the judgement that
  // follows from these faults. Requires mutex_.
  JobStep StepJudged(const JobEvent& event);
  // Converts the results of `step` to News (what must be sent to agents and
  // watchers), and records whether the step finished or deposed the job.
  // Requires mutex_.
  News NewsOf(JobStep step);
  // Finds the sink of each delivery, and adds the rounds' secret keys to the
  // directives. Omits deliveries whose stream has closed. Requires mutex_.
  std::vector<Addressee> Addressed(std::vector<Delivery> deliveries);
  // If the directives and decisions in `news` must be held back until a record
  // is durable, moves them to held_. Requires mutex_.
  void Hold(News& news);
  // Returns messages that send each stream in `streams` its directive again,
  // with the stream's inquiries. Requires mutex_.
  News Readdress(const std::set<StreamId>& streams);
  enum class Stream { kKnown, kNew };
  // Updates the inquiries after a step: asks further nodes, or ends the
  // inquiries. `stream`: the stream of the step's event. Returns the streams
  // whose inquiries have changed. Requires mutex_.
  std::set<StreamId> FollowInquiries(Stream stream);
  // Starts to write the record if it has changed and no other write is in
  // progress. Requires mutex_.
  void Write();
  void OnWritten();
  // Waits until the record store has called back for all changes so far, but at
  // most for Surroundings::max_write_wait. Returns "", or the reason why the
  // changes are lost: another process coordinates the job now.
  std::string AwaitWritten();
  void Tell(const News& news);
  void OnAlarm(Instant when);
  // Sets an alarm for the job's next deadline, unless an earlier alarm is set.
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
  ChannelKeys check_keys_;
  std::unordered_map<StreamId, std::shared_ptr<AttachedSink>> sinks_;
  JobInquiries inquiries_;
  // The number of the newest list of suspected and quarantined machines that
  // the job has got (HostWatch::Version::number).
  uint64_t judged_ = 0;
  // The job's round when FollowInquiries last asked further nodes for the
  // output of their workers, as each open inquiry with Inquiry::Follow::kYes
  // demands (such as that of `launch logs --follow`).
  int asked_round_ = 0;
  // Whether FollowInquiries has noticed that the job is over, so that no
  // further node will be asked to answer an inquiry.
  bool inquiries_end_ = false;
  // The time of the current alarm; nullopt: none. The alarm may come before the
  // job's next deadline, because a report extends a lease but does not change
  // the alarm.
  std::optional<Instant> alarm_;
  bool told_finished_ = false;
  bool deposed_ = false;

  // The results of steps that wait until the record store holds the record
  // durably.
  HeldResults<News> held_;
  std::condition_variable was_written_;
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_SERVER_DRIVEN_JOB_H_
