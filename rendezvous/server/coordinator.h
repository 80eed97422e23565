#ifndef MUSTER_RENDEZVOUS_SERVER_COORDINATOR_H_
#define MUSTER_RENDEZVOUS_SERVER_COORDINATOR_H_

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
#include "rendezvous/takeover/standby.h"
#include "rendezvous/wire/record_wire.h"

namespace muster::rendezvous {

// All jobs of one process: finds or creates the job of each report, calls the
// pure cores for each event and deadline, and passes their directives to the
// sinks.
//
// Thread-safe. Independent of gRPC. Owns one thread, for deadlines.
class Coordinator {
 public:
  struct Options {
    // The time for which a finished job is kept to tell late nodes its verdict;
    // at most `max_finished_jobs` finished jobs are kept.
    Duration keep_finished = std::chrono::minutes(10);
    int max_finished_jobs = 1000;
    int max_jobs = 10000;
    // Limits for a coordinator that every host may use (without a token).
    // Maximum number of unfinished jobs whose first report came from one IP
    // address; nullopt: no limit.
    std::optional<int> max_jobs_per_peer;
    // Maximum number of unfinished jobs that one principal has begun; nullopt:
    // no limit.
    std::optional<int> max_jobs_per_principal;
    // Upper bound of JobSpec::join_timeout of a new job; nullopt: none.
    std::optional<Duration> max_join_timeout;
    // The only run id that is accepted, as for the coordinator inside a
    // `launch`. Empty: any run id.
    std::string only_run_id;
    // Place::run_tag of every job. Empty: the coordinator draws a tag for each
    // job.
    std::string run_tag;
    // The store of the jobs' records (OpenJournal). Null: none is kept, and a
    // restarted coordinator knows no job.
    std::unique_ptr<Journal> journal;
    // Whether this coordinator, one of several that share `journal`, leads
    // (DrivenJob::Surroundings::leads). Empty: it is the only one.
    std::function<bool()> leads;
    // The jobs of an earlier coordinator, from `journal`.
    std::vector<KeptJob> kept;
    // Called for each decision, from any thread; within a job in the order of
    // the decisions.
    std::function<void(const std::string& run_id, const Decision&)> on_decision;
    // Set for the coordinator of one job, inside a `launch`, from which other
    // nodes of the job may take over. It begins as a Standby. `journal` must be
    // null, and `only_run_id` is the job's.
    struct Takeover {
      Standby::Kind kind = Standby::Kind::kSuccessor;
      // HOST:PORT at which others reach this coordinator (SetOwnEndpoint).
      std::string own_endpoint;
      // Called when this coordinator begins to coordinate the job, before the
      // first decision. Must not call the coordinator.
      enum class Start { kNewJob, kTakeover };
      std::function<void(Start start, const std::string& run_tag)> on_start;
    };
    std::optional<Takeover> takeover;
  };

  explicit Coordinator(Options options);
  ~Coordinator();  // All streams must have been detached before.

  Coordinator(const Coordinator&) = delete;
  Coordinator& operator=(const Coordinator&) = delete;

  // The sink may be called from Attach until Detach returns; Detach blocks
  // until no call is running. Detach and OnReport of one stream must not run at
  // the same time.
  // `peer`: the IP address that the stream comes from; empty: the agent runs in
  // this process, and its node is lost if this process dies.
  // `principal`: the name of the one who opened it; empty: unknown.
  StreamId Attach(DirectiveSink* sink, std::string peer = "",
                  std::string principal = "");
  void Detach(StreamId stream);

  // An invalid report (bad spec, empty id, wrong version) is answered with a
  // kRefused directive.
  //
  // InvalidArgument: the report is that of another node than the stream's first
  // report, and was dropped; the caller must end the stream.
  absl::Status OnReport(StreamId stream, Report report);
  // Whether a job has taken a report of the stream.
  bool HasJob(StreamId stream) const;

  std::vector<JobStatus> ListJobs() const;  // without `nodes`
  // NotFound: no such job; the message lists the existing jobs.
  absl::StatusOr<JobStatus> GetJob(const std::string& run_id) const;
  // GetJob without `nodes`, which costs the same for any number of them.
  absl::StatusOr<JobStatus> GetJobSummary(const std::string& run_id) const;
  // NotFound: no such job. FailedPrecondition: the job is over already.
  absl::Status CancelJob(const std::string& run_id, const std::string& reason);
  // NotFound: no such job or node. FailedPrecondition: too few nodes would
  // remain.
  // `principal`: who asks for it; empty: unknown.
  absl::Status DrainNode(const std::string& run_id, const std::string& node,
                         const std::string& principal = "");

  // Calls `on_change` with each later decision of the job until Unwatch
  // returns: from any thread, one call at a time, never from within Watch.
  // `on_change` must not call Unwatch. NotFound: no such job.
  // ResourceExhausted: the job has too many watchers.
  using WatchId = uint64_t;
  absl::StatusOr<WatchId> Watch(const std::string& run_id,
                                std::function<void(const Decision&)> on_change);
  void Unwatch(WatchId watch);

  // Blocks until no agent is attached and either every job is finished and its
  // nodes have the verdict, or no agent has been attached for 2 s. Returns
  // false after `timeout`. Used by the coordinator inside `launch`, which must
  // leave last.
  bool WaitUntilDeserted(Duration timeout);

  // The rest is for Options::takeover.
  //
  // Must be called before the first Attach, if the port was not known before.
  void SetOwnEndpoint(std::string endpoint);
  std::string own_endpoint() const;
  // This process's agent has the coordinator `leader`, which may be this one;
  // nullopt: it has lost it.
  void Follow(std::optional<Standby::Leader> leader);
  // The coordinator of the job at `endpoint` announces itself. NotFound: this
  // coordinator has no such job.
  absl::Status Told(const std::string& run_id, uint64_t epoch,
                    const std::string& endpoint,
                    Backing backing = Backing::kMajority);
  // Nodes without a coordinator have gathered at another standby of the job.
  // NotFound: this coordinator has no such job.
  absl::Status Meet(const std::string& run_id, const Standby::Assembly& other);
  // Where nodes of the job look for their coordinator once they have lost it,
  // as this process's agent knows: HOST:PORT each.
  void SetStandbys(std::vector<std::string> standbys);
  // The job's coordinator, as far as this one knows; perhaps itself. nullopt:
  // unknown.
  std::optional<Standby::Leader> Known(const std::string& run_id) const;
  // The announcement of this coordinator to others, its question to them if it
  // lacks a majority, or the nodes that have gathered here while it stands by.
  // nullopt: nothing is due, because no node is here, or this coordinator has
  // begun the job as its first one.
  struct Announcement {
    std::string run_id;
    uint64_t epoch = 0;
    std::string endpoint;
    Backing backing = Backing::kMajority;
    int gathered = 0;  // number of nodes here; 0: this one does not stand by
    std::vector<std::string> standbys;  // where to send it, HOST:PORT
  };
  std::optional<Announcement> Announcing() const;
  // Whether the nodes that are connected could elect another coordinator at
  // once, so that this one need not stay for an unfinished job.
  bool MayLeave() const;
  // Why this coordinator cannot answer for its job; nullopt: it can.
  struct Elsewhere {
    std::string endpoint;  // of the job's coordinator; empty: unknown
    // One sentence. FailedPrecondition: `endpoint` is known; else Unavailable.
    absl::Status why;
  };
  std::optional<Elsewhere> WhereElse() const;

  // Forgets the finished jobs and queues the removal of their records. The
  // destructor of Journal waits until the records are removed.
  void ForgetFinishedJobs();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// The fields `journal` and `kept` of Coordinator::Options.
struct OpenedJournal {
  std::unique_ptr<Journal> journal;
  std::vector<KeptJob> kept;
  // Why the record of a job cannot be used, one sentence for each such record,
  // which is not in `kept`.
  std::vector<std::string> damaged;
};

// Opens the journal in `folder` and reads its records. Errors: one sentence,
// those of Journal::Open; DataLoss also: the record of a job is damaged.
absl::StatusOr<OpenedJournal> OpenJournal(const std::string& folder);
// Reads the records of a journal that is open.
OpenedJournal ReadJobs(std::unique_ptr<Journal> journal);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_SERVER_COORDINATOR_H_
