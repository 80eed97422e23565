#ifndef MUSTER_RENDEZVOUS_DASHBOARD_JOB_HISTORY_H_
#define MUSTER_RENDEZVOUS_DASHBOARD_JOB_HISTORY_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "rendezvous/protocol/job_status.h"

namespace muster::rendezvous {

// The past of one job, for charts: samples of its progress, and its phases.
// When the maximum number of samples is reached, every second sample is
// dropped, and later samples are taken half as often. So the size does not grow
// with the job's age. Times are ages of the job in seconds. Pure.
class JobHistory {
 public:
  static constexpr size_t kMaxSamples = 600;
  static constexpr size_t kMaxSpans = 200;

  struct Sample {
    double at_s = 0;
    // Training step of the rank that is furthest behind.
    std::optional<int64_t> step;
    std::optional<double> loss;  // mean of the ranks' losses
    // sum over the ranks that report a rate
    std::optional<double> tokens_per_s;
  };
  // A time during which the job was in one phase of one round.
  struct Span {
    int round = 0;
    JobPhase phase = JobPhase::kGathering;
    double from_s = 0;
    double to_s = 0;
  };

  // Adds the job's present state, `job`, to its history. Adds no sample if the
  // job has finished, or if the newest sample is less than distance_s_ old. If
  // `job` is younger than the job was at the last call, it is a new run with
  // the same id. The old history is then cleared first.
  void Add(const JobStatus& job);

  const std::vector<Sample>& samples() const { return samples_; }
  const std::vector<Span>& spans() const { return spans_; }
  // Number of spans that were dropped because there were more than kMaxSpans.
  int spans_dropped() const { return spans_dropped_; }
  // A number that changes whenever a sample or a span is added or changed.
  uint64_t version() const { return version_; }

 private:
  void AddSpan(const JobStatus& job, double at_s);
  void AddSample(const JobStatus& job, double at_s);

  std::vector<Sample> samples_;
  std::vector<Span> spans_;
  int spans_dropped_ = 0;
  // Minimum time between two samples, in seconds. It doubles when samples are
  // dropped. The initial value is less than the dashboard's interval of 1 s
  // between two states of a job. So a state that is read a little early is not
  // skipped.
  double distance_s_ = 0.75;
  uint64_t version_ = 0;
};

// The histories of a coordinator's jobs. Pure.
class JobHistories {
 public:
  // Maximum number of jobs with a history; unfinished jobs replace finished
  // ones.
  static constexpr size_t kMaxJobs = 200;

  // Adds the state of each job to the job's history. Removes the histories of
  // jobs that are not in `jobs`.
  void Add(const std::vector<JobStatus>& jobs);

  // Returns the history of a job; null: there is none.
  const JobHistory* Find(const std::string& run_id) const;

 private:
  std::map<std::string, JobHistory> by_job_;
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_DASHBOARD_JOB_HISTORY_H_
