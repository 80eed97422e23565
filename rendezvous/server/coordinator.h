#ifndef MUSTER_RENDEZVOUS_SERVER_COORDINATOR_H_
#define MUSTER_RENDEZVOUS_SERVER_COORDINATOR_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rendezvous/job/job_step.h"
#include "rendezvous/protocol/job_status.h"
#include "rendezvous/server/directive_sink.h"

namespace muster {

// Every job of one daemon: finds the job that a report belongs to, gives the
// pure cores their time, and hands their directives to the sinks.
//
// Thread-safe. Knows no gRPC. Owns one thread, for deadlines.
class Coordinator {
 public:
  struct Options {
    // Finished jobs answer late comers with their verdict for this long, and
    // no more than `most_finished_jobs` of them are kept.
    Duration keep_finished = std::chrono::minutes(10);
    int most_finished_jobs = 1000;
    int most_jobs = 10000;
    // The only job that may meet here: the coordinator inside a `launch` has
    // no other. Empty: any.
    std::string only_run_id;
    // Called for each decision, from any thread, in the order of decisions
    // within a job.
    std::function<void(const std::string& run_id, const Decision&)> on_decision;
  };

  explicit Coordinator(Options options);
  ~Coordinator();  // All streams must have been detached.

  Coordinator(const Coordinator&) = delete;
  Coordinator& operator=(const Coordinator&) = delete;

  // From Attach to Detach the sink may be called. Detach returns once no call
  // is under way. Detach and OnReport of one stream: not at the same time.
  StreamId Attach(DirectiveSink* sink);
  void Detach(StreamId stream);

  // A report that makes no sense (bad spec, empty id, wrong version) is
  // answered with a kRefused directive, not with a status.
  void OnReport(StreamId stream, Report report);

  std::vector<JobStatus> ListJobs() const;  // without their nodes
  // NotFound: no such job; the message names those that there are.
  absl::StatusOr<JobStatus> GetJob(const std::string& run_id) const;
  // NotFound: no such job. FailedPrecondition: it is over already.
  absl::Status CancelJob(const std::string& run_id, const std::string& reason);
  // NotFound: no such job or node. FailedPrecondition: too few would remain.
  absl::Status DrainNode(const std::string& run_id, const std::string& node);

  // Calls `on_change` (from any thread, one at a time, not from within Watch)
  // with each decision of the job from now on, until Unwatch returns. It must
  // not call Unwatch. NotFound: no such job. ResourceExhausted: it is watched
  // by too many.
  using WatchId = uint64_t;
  absl::StatusOr<WatchId> Watch(const std::string& run_id,
                                std::function<void(const Decision&)> on_change);
  void Unwatch(WatchId watch);

  // Waits until no agent is attached and every job here is finished, and known
  // to be by its nodes, or has been without an agent for 2 s; or until
  // `timeout` (false). For the coordinator inside `launch`, which leaves last.
  bool WaitUntilDeserted(Duration timeout);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace muster

#endif  // MUSTER_RENDEZVOUS_SERVER_COORDINATOR_H_
