#ifndef MUSTER_RENDEZVOUS_SERVER_COORDINATOR_H_
#define MUSTER_RENDEZVOUS_SERVER_COORDINATOR_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rendezvous/job/job_step.h"
#include "rendezvous/journal/journal.h"
#include "rendezvous/protocol/job_status.h"
#include "rendezvous/server/directive_sink.h"
#include "rendezvous/server/host_watch.h"
#include "rendezvous/server/inquiry_session.h"
#include "rendezvous/takeover/standby.h"
#include "rendezvous/wire/record_wire.h"

namespace muster::rendezvous {

// All jobs of one process. Finds or creates the job of each report. Calls the
// jobs' pure state machines for each event and deadline, and passes the
// directives to the agents' sinks (DirectiveSink).
//
// Thread-safe. Independent of gRPC. Owns one thread, for deadlines.
class Coordinator {
 public:
  struct Options {
    // How long a finished job is kept, so that late nodes get its verdict. At
    // most `max_finished_jobs` finished jobs are kept.
    Duration keep_finished = std::chrono::minutes(10);
    int max_finished_jobs = 1000;
    int max_jobs = 10000;
    // Maximum number of unfinished jobs that callers without a verified name
    // have begun from one IP address; nullopt: no limit. Set for a coordinator
    // without a token, which every host may use.
    std::optional<int> max_jobs_per_peer;
    // Maximum number of unfinished jobs that were begun by one principal;
    // nullopt: no limit.
    std::optional<int> max_jobs_per_principal;
    // Maximum JobSpec::join_timeout of a job that a caller without a verified
    // name begins; nullopt: no limit.
    std::optional<Duration> max_join_timeout;
    // The only accepted run id, as for the coordinator inside a `launch`.
    // Empty: any run id is accepted.
    std::string only_run_id;
    // The run tag (Place::run_tag) of every job. Empty: the coordinator creates
    // a random tag for each job.
    std::string run_tag;
    // The journal of the jobs' records (OpenJournal). Null: no records are
    // kept, so a restarted coordinator knows no job.
    std::unique_ptr<Journal> journal;
    // Whether this coordinator is the leader of several that share `journal`
    // (DrivenJob::Surroundings::leads). An empty function: this coordinator is
    // the only one.
    std::function<bool()> leads;
    // The jobs of an earlier coordinator, read from `journal`.
    std::vector<KeptJob> kept;
    // The faults of machines, and the operators' orders about machines, that an
    // earlier coordinator remembered. Read from `journal`.
    NodeMemory::Kept remembered;
    // Whether machines with many faults lose their places (--quarantine).
    Quarantine quarantine = Quarantine::kOn;
    // Called once for each machine that is quarantined, from any thread; must
    // not block. May be empty.
    std::function<void(const HostWatch::Notice&)> on_quarantine;
    // Called for each decision of a job, in the order of the job's decisions.
    // Also called for each order of an operator about a machine, with kind
    // "order" and with `only_run_id` as `run_id`. Called from any thread. May
    // be empty.
    std::function<void(const std::string& run_id, const Decision&)> on_decision;
    // Settings for a coordinator that runs inside a `launch` and that another
    // node of the job may replace (a takeover). The coordinator coordinates
    // only this job and starts as a Standby. `only_run_id` must be the job's
    // run id.
    //
    // If a node knows a round of the job, `kept` is not used. Otherwise a new
    // job begins, which takes round numbers, used restarts, age and verdict
    // from `kept` (Job::Recall).
    struct Takeover {
      Standby::Kind kind = Standby::Kind::kSuccessor;
      // HOST:PORT at which other processes reach this coordinator (see
      // SetOwnEndpoint).
      std::string own_endpoint;
      // How this coordinator comes to coordinate the job: it begins a new job,
      // or it takes the job over from another coordinator.
      enum class Start { kNewJob, kTakeover };
      // Called when this coordinator begins to coordinate the job, before its
      // first decision. Must not call the coordinator. May be empty.
      std::function<void(Start start, const std::string& run_tag)> on_start;
    };
    std::optional<Takeover> takeover;
  };

  explicit Coordinator(Options options);
  ~Coordinator();  // All streams must already be detached.

  Coordinator(const Coordinator&) = delete;
  Coordinator& operator=(const Coordinator&) = delete;

  // Attaches an agent's stream. `sink` may be called until Detach returns;
  // Detach blocks until no call of `sink` is running. Detach and OnReport of
  // one stream must not run at the same time. `principal`: the caller's name;
  // empty: unknown.
  //
  // `peer`: the IP address of the stream. Empty: the agent runs in this
  // process, so its node is lost if this process dies.
  StreamId Attach(DirectiveSink* sink, std::string peer = "",
                  std::string principal = "");
  void Detach(StreamId stream);

  // Handles a report. An invalid report (bad spec, empty id, wrong version) is
  // answered with a kRefused directive.
  //
  // InvalidArgument: the report is from another node than the stream's first
  // report, and was dropped; the caller must end the stream.
  absl::Status OnReport(StreamId stream, Report report);
  // Whether a job has accepted a report of the stream.
  bool HasJob(StreamId stream) const;

  // Returns the status of each job, without JobStatus::nodes.
  std::vector<JobStatus> ListJobs() const;
  // Returns a job's status. NotFound: no such job; the message lists the
  // existing jobs.
  absl::StatusOr<JobStatus> GetJob(const std::string& run_id) const;
  // Returns a job's status like GetJob, but without `nodes`. The cost does not
  // depend on the number of nodes.
  absl::StatusOr<JobStatus> GetJobSummary(const std::string& run_id) const;
  // Ends a job. NotFound: no such job. FailedPrecondition: the job is already
  // over.
  absl::Status CancelJob(const std::string& run_id, const std::string& reason);
  // Removes a node from a job. `principal`: the caller's name; empty: unknown.
  // NotFound: no such job or node. FailedPrecondition: too few nodes would
  // remain.
  absl::Status DrainNode(const std::string& run_id, const std::string& node,
                         const std::string& principal = "");

  // Lists the machines whose faults are remembered.
  std::vector<HostStatus> ListHosts();
  const std::string& only_run_id() const;
  // FreeHost declares the earlier faults of a machine void. BanHost bans a
  // machine. Both apply to all jobs, and block until the journal has stored the
  // order, at most 3 s. Errors: those of NodeMemory::Free and Ban;
  // FailedPrecondition: the order is carried out, but the journal has not
  // stored it in time. `principal`: the caller's name; empty: unknown.
  absl::Status FreeHost(const std::string& host, const std::string& principal);
  // `reason`: one line that says why the machine is banned, and names the
  // operator who bans the machine.
  absl::Status BanHost(const std::string& host, const std::string& reason);

  // Returns JobStatus::standbys of a job; empty: no such job. O(1).
  std::vector<std::string> StandbysOf(const std::string& run_id) const;

  // Inquire opens an inquiry: a question of an operator (`launch logs`, `launch
  // stacks`) to the nodes of a job. EndInquiry ends the inquiry, and may also
  // be called if Inquire failed. Errors: those of DrivenJob::Inquire; NotFound:
  // no such job.
  absl::Status Inquire(const std::string& run_id, const std::string& node,
                       const std::shared_ptr<InquirySession>& session);
  void EndInquiry(const std::string& run_id,
                  const std::shared_ptr<InquirySession>& session);
  // Returns the open inquiry whose id for one of the job's nodes is `id`. (An
  // inquiry has a different id for each node.) NotFound: no such inquiry is
  // open.
  absl::StatusOr<std::shared_ptr<InquirySession>> FindInquiry(
      const std::string& run_id, uint64_t id) const;

  // Watch registers `on_change`, which is called with each later decision of
  // the job until Unwatch returns. The calls come from any thread, one at a
  // time, never from within Watch. `on_change` must not call Unwatch. `cursor`:
  // the newest decision that the caller knows; Watch moves it to the newest
  // decision so far. `missed`: the decisions in between. NotFound: no such job.
  // ResourceExhausted: the job has too many watchers.
  using WatchId = uint64_t;
  struct Watched {
    WatchId id = 0;
    MissedDecisions missed;
  };
  absl::StatusOr<Watched> Watch(const std::string& run_id,
                                DecisionCursor* cursor,
                                std::function<void(const Decision&)> on_change);
  void Unwatch(WatchId watch);
  // Counts decisions that an operator's watch has missed. Any thread.
  void NoteMissed(int64_t decisions) { missed_decisions_ += decisions; }
  // The number of decisions that the watches have missed so far.
  int64_t missed_decisions() const { return missed_decisions_; }

  // Blocks until no agent is attached and one of two conditions holds:
  //   - Every job has finished, and its nodes have the verdict.
  //   - No agent has been attached for 2 s.
  // Returns false after `timeout`. Called by a `launch` that hosts the
  // coordinator and must be the last process of the job to exit.
  bool WaitUntilDeserted(Duration timeout);

  // The functions below are for Options::takeover.
  //
  // Sets the endpoint of this coordinator. If the port was not known at
  // construction, call this before the first Attach.
  void SetOwnEndpoint(std::string endpoint);
  std::string own_endpoint() const;
  // Tells this coordinator to which coordinator the agent in its own process is
  // connected (perhaps to itself); nullopt: to none.
  void Follow(std::optional<Standby::Leader> leader);
  // Handles a directive that the agent in this coordinator's process has
  // received from the job's coordinator. No effect if this coordinator itself
  // coordinates the job.
  //
  // Updates the job's record in this coordinator's journal with the round and
  // the restarts of the directive. A directive with the job's verdict removes
  // the record, so that the same `launch` command later begins a new job. But
  // if the job timed out, the record stays, so that the command continues the
  // job.
  void Learn(const Directive& directive);
  // Handles an announcement of another coordinator of the job, which listens at
  // `endpoint`. NotFound: this coordinator has no such job.
  absl::Status Told(const std::string& run_id, uint64_t epoch,
                    const std::string& endpoint,
                    Backing backing = Backing::kMajority);
  // Handles an announcement of another standby, to which nodes without a
  // coordinator have connected. NotFound: this coordinator has no such job.
  absl::Status Meet(const std::string& run_id, const Standby::Assembly& other);
  // Sets the endpoints (HOST:PORT) at which nodes look for a new coordinator,
  // as the agent in this coordinator's process knows them.
  void SetStandbys(std::vector<std::string> standbys);
  // Returns the job's coordinator as far as known, which may be this one;
  // nullopt: unknown.
  std::optional<Standby::Leader> Known(const std::string& run_id) const;
  // The message that this process must send to other processes now; nullopt:
  // none.
  //
  //   - A standby sends the number of nodes that are connected to it and wait
  //     for a coordinator, if there are any.
  //   - A coordinator that has taken the job over says that it coordinates the
  //     job, while it has a majority.
  //   - A coordinator that has no majority, or may have been restarted, asks
  //     who coordinates the job.
  //   - After the job has finished, a coordinator sends nothing.
  struct Announcement {
    std::string run_id;
    uint64_t epoch = 0;
    std::string endpoint;
    Backing backing = Backing::kMajority;
    // If a standby sends the message: the number of nodes that are connected to
    // it; `epoch` is then the highest epoch that one of these nodes has
    // promised. 0: the sender coordinates the job.
    int gathered = 0;
    std::vector<std::string> standbys;  // HOST:PORT of this message's receivers
  };
  std::optional<Announcement> Announcing() const;
  // Whether this process may exit although the job is unfinished. It may exit
  // if the connected nodes could elect another coordinator at once. It may also
  // exit while the job waits for nodes to join: the missing node may be the
  // node of this process, which the cluster restarts only after the exit.
  bool MayLeave() const;
  // The result of WhereElse in a process that is only a standby: which other
  // process coordinates the job. If this process itself coordinates the job,
  // WhereElse returns nullopt.
  struct Elsewhere {
    std::string endpoint;  // endpoint of the job's coordinator; empty: unknown
    // The error with which this standby refuses calls about the job, one
    // sentence. FailedPrecondition: `endpoint` is known. Unavailable: it is
    // unknown.
    absl::Status why;
  };
  std::optional<Elsewhere> WhereElse() const;

  // Forgets the finished jobs and queues the removal of their records. If there
  // is Options::only_run_id, and the job usually runs again (RunsAgain), it
  // keeps a record for that (ForNextRun). Journal's destructor waits until the
  // records are written or removed.
  void ForgetFinishedJobs();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
  std::atomic<int64_t> missed_decisions_ = 0;
};

// Returns all jobs with their nodes. O(jobs + nodes).
std::vector<JobStatus> JobsWithNodes(const Coordinator& coordinator);

// An open journal and what was read from it, for the fields of
// Coordinator::Options with the same names.
struct OpenedJournal {
  std::unique_ptr<Journal> journal;
  std::vector<KeptJob> kept;
  NodeMemory::Kept remembered;
  // One sentence for each record that cannot be used, and therefore is not in
  // `kept`.
  std::vector<std::string> damaged;
};

// Opens the journal in `folder` and reads its records. Errors, each one
// sentence: those of Journal::Open; DataLoss: a record cannot be used
// (OpenedJournal::damaged).
absl::StatusOr<OpenedJournal> OpenJournal(const std::string& folder);
// Reads the records of an open journal. Puts a sentence about each record that
// cannot be used into OpenedJournal::damaged.
OpenedJournal ReadJobs(std::unique_ptr<Journal> journal);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_SERVER_COORDINATOR_H_
