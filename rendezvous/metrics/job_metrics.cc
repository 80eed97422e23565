#include "rendezvous/metrics/job_metrics.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "rendezvous/version.h"

namespace muster::rendezvous {
namespace {

using Type = Exposition::Type;

constexpr JobPhase kJobPhases[] = {JobPhase::kGathering, JobPhase::kRunning,
                                   JobPhase::kStopping, JobPhase::kFinished};

// The states of a node in its job's metrics. A node counts in the first state
// that applies to it.
constexpr const char* kNodeStates[] = {
    "disconnected", "draining", "unhealthy", "unchecked", "quarantined",
    "spare",        "idle",     "running",   "stopping",  "succeeded"};

std::string StateOf(const NodeStatus& node) {
  if (!node.connected) return "disconnected";
  if (node.draining) return "draining";
  if (node.health != Health::kHealthy) return HealthText(node.health);
  if (!node.group_rank.has_value() &&
      (node.judgement.state == HostState::kQuarantined ||
       node.judgement.state == HostState::kBanned)) {
    return "quarantined";
  }
  if (!node.group_rank.has_value()) return "spare";
  return PhaseText(node.phase);
}

// The progress of all workers of a job together.
struct Progress {
  std::optional<int64_t> step;  // lowest step of any worker that reports steps
  double tokens_per_s = 0;      // sum over the workers that report a rate
  bool has_tokens = false;
};

Progress ProgressOf(const JobStatus& job) {
  Progress progress;
  for (const NodeStatus& node : job.nodes) {
    for (const WorkerProgress& worker : node.progress) {
      if (worker.step.has_value()) {
        progress.step =
            std::min(progress.step.value_or(*worker.step), *worker.step);
      }
      if (worker.tokens_per_s.has_value()) {
        progress.has_tokens = true;
        progress.tokens_per_s += *worker.tokens_per_s;
      }
    }
  }
  return progress;
}

// A metric with one sample for each job.
struct JobGauge {
  const char* name;
  Type type;
  const char* help;
  // Returns the sample's value; nullopt: the job has no sample.
  std::optional<double> (*read)(const JobStatus& job);
};

constexpr JobGauge kJobGauges[] = {
    {"muster_job_age_seconds", Type::kGauge, "Time since the job was created.",
     [](const JobStatus& job) -> std::optional<double> {
       return ToSeconds(job.age);
     }},
    {"muster_job_min_nodes", Type::kGauge,
     "Number of nodes without which no round begins.",
     [](const JobStatus& job) -> std::optional<double> {
       return job.spec.min_nodes;
     }},
    {"muster_job_max_nodes", Type::kGauge,
     "Highest number of nodes in a round.",
     [](const JobStatus& job) -> std::optional<double> {
       return job.spec.max_nodes;
     }},
    {"muster_job_workers", Type::kGauge,
     "Number of workers in the current or last round.",
     [](const JobStatus& job) -> std::optional<double> {
       return job.world_size;
     }},
    {"muster_job_rounds_total", Type::kCounter,
     "Number of rounds that have begun.",
     [](const JobStatus& job) -> std::optional<double> { return job.round; }},
    {"muster_job_restarts_total", Type::kCounter,
     "Restarts that were spent of the job's budget.",
     [](const JobStatus& job) -> std::optional<double> {
       return job.restarts_used;
     }},
    {"muster_job_max_restarts", Type::kGauge,
     "Budget of restarts of the whole job.",
     [](const JobStatus& job) -> std::optional<double> {
       return job.spec.max_restarts;
     }},
    {"muster_job_productive_ratio", Type::kGauge,
     "Productive part of the nodes' time (ETTR), from 0 to 1.",
     [](const JobStatus& job) -> std::optional<double> {
       if (job.time.total_s() <= 0) return std::nullopt;
       return job.time.ratio();
     }},
    {"muster_job_step", Type::kGauge,
     "Lowest step among the workers that report steps.",
     [](const JobStatus& job) -> std::optional<double> {
       const std::optional<int64_t> step = ProgressOf(job).step;
       if (!step.has_value()) return std::nullopt;
       return static_cast<double>(*step);
     }},
    {"muster_job_tokens_per_second", Type::kGauge,
     "Sum over the workers that report it.",
     [](const JobStatus& job) -> std::optional<double> {
       const Progress progress = ProgressOf(job);
       if (!progress.has_tokens) return std::nullopt;
       return progress.tokens_per_s;
     }},
    {"muster_job_stragglers", Type::kGauge,
     "Number of ranks that are persistently slower than the others.",
     [](const JobStatus& job) -> std::optional<double> {
       return static_cast<double>(
           std::ranges::count_if(job.slow_ranks, &SlowRank::is_persistent));
     }},
    {"muster_job_node_silence_seconds", Type::kGauge,
     "Longest time since the last report of a node of the job.",
     [](const JobStatus& job) -> std::optional<double> {
       if (job.nodes.empty() || job.phase == JobPhase::kFinished) {
         return std::nullopt;
       }
       Duration longest = Duration::zero();
       for (const NodeStatus& node : job.nodes) {
         longest = std::max(longest, node.silent_for);
       }
       return ToSeconds(longest);
     }},
    {"muster_job_preempted", Type::kGauge,
     "1 after the cluster has announced that it takes the nodes away, else 0.",
     [](const JobStatus& job) -> std::optional<double> {
       return job.preemption.has_value() ? 1 : 0;
     }},
    {"muster_job_not_durable_seconds", Type::kGauge,
     "Time for which the journal has not had the job's newest state.",
     [](const JobStatus& job) -> std::optional<double> {
       return ToSeconds(job.not_durable_for);
     }},
    {"muster_job_exit_code", Type::kGauge, "Exit code of a finished job.",
     [](const JobStatus& job) -> std::optional<double> {
       if (!job.verdict.has_value()) return std::nullopt;
       return job.verdict->exit_code;
     }},
};

void AddPhases(const std::vector<JobStatus>& jobs, Exposition& page) {
  page.Family("muster_job_phase", Type::kGauge,
              "1 for the phase that the job is in, 0 for the others.");
  for (const JobStatus& job : jobs) {
    for (const JobPhase phase : kJobPhases) {
      const Label labels[] = {{"job", job.run_id}, {"phase", PhaseText(phase)}};
      page.Sample(labels, job.phase == phase ? 1 : 0);
    }
  }
}

void AddNodes(const std::vector<JobStatus>& jobs, Exposition& page) {
  page.Family("muster_job_nodes", Type::kGauge,
              "Number of the job's nodes in each state.");
  for (const JobStatus& job : jobs) {
    std::map<std::string, int> counts;
    for (const NodeStatus& node : job.nodes) ++counts[StateOf(node)];
    for (const char* state : kNodeStates) {
      const Label labels[] = {{"job", job.run_id}, {"state", state}};
      page.Sample(labels, counts[state]);
    }
  }
}

void AddTime(const std::vector<JobStatus>& jobs, Exposition& page) {
  page.Family("muster_job_time_seconds_total", Type::kCounter,
              "Time of all nodes by activity; each instant of a node has one.");
  for (const JobStatus& job : jobs) {
    AddActivitySamples({{"job", job.run_id}}, job.time.spent_s, page);
  }
}

// Adds a counter with one sample for each job and cause of lost time. `read`
// returns the value for one cause.
void AddByCause(const std::vector<JobStatus>& jobs, const char* name,
                const char* help, double (*read)(const JobTime::Sum& sum),
                Exposition& page) {
  page.Family(name, Type::kCounter, help);
  for (const JobStatus& job : jobs) {
    for (size_t i = 0; i < kLossCauses; ++i) {
      const Label labels[] = {
          {"job", job.run_id},
          {"cause", std::string(NameOf(static_cast<LossCause>(i)))}};
      page.Sample(labels, read(job.time.by_cause[i]));
    }
  }
}

// Adds a histogram with one set of samples for each job. `read`: the field of
// JobStatus that contains the histogram.
void AddHistogram(const std::vector<JobStatus>& jobs, const char* name,
                  const char* help, DurationHistogram JobStatus::*read,
                  Exposition& page) {
  page.Family(name, Type::kHistogram, help);
  for (const JobStatus& job : jobs) {
    const Label labels[] = {{"job", job.run_id}};
    const DurationHistogram& histogram = job.*read;
    page.Histogram(labels, DurationHistogram::kBounds, histogram.counts,
                   histogram.sum_s);
  }
}

std::vector<JobStatus> Shown(std::vector<JobStatus> jobs) {
  std::stable_sort(
      jobs.begin(), jobs.end(), [](const JobStatus& a, const JobStatus& b) {
        const bool a_is_over = a.phase == JobPhase::kFinished;
        const bool b_is_over = b.phase == JobPhase::kFinished;
        return std::tie(a_is_over, a.run_id) < std::tie(b_is_over, b.run_id);
      });
  if (jobs.size() > kMaxShownJobs) jobs.resize(kMaxShownJobs);
  return jobs;
}

}  // namespace

void AddJobMetrics(const std::vector<JobStatus>& all, Exposition& page) {
  page.Family("muster_jobs", Type::kGauge,
              "Number of jobs that this coordinator knows, by phase.");
  for (const JobPhase phase : kJobPhases) {
    const auto count =
        std::count_if(all.begin(), all.end(),
                      [&](const JobStatus& job) { return job.phase == phase; });
    const Label labels[] = {{"phase", PhaseText(phase)}};
    page.Sample(labels, static_cast<double>(count));
  }
  const std::vector<JobStatus> jobs = Shown(all);
  page.Family("muster_jobs_omitted", Type::kGauge,
              "Number of jobs that have no metrics of their own.");
  page.Sample({}, static_cast<double>(all.size() - jobs.size()));
  if (jobs.empty()) return;
  AddPhases(jobs, page);
  AddNodes(jobs, page);
  for (const JobGauge& gauge : kJobGauges) {
    page.Family(gauge.name, gauge.type, gauge.help);
    for (const JobStatus& job : jobs) {
      const std::optional<double> value = gauge.read(job);
      const Label labels[] = {{"job", job.run_id}};
      if (value.has_value()) page.Sample(labels, *value);
    }
  }
  AddTime(jobs, page);
  AddByCause(
      jobs, "muster_job_interruptions_total",
      "Early ends of rounds by the kind of their cause.",
      [](const JobTime::Sum& sum) -> double { return sum.incidents; }, page);
  AddByCause(
      jobs, "muster_job_interrupted_seconds_total",
      "Time without progress because of early ends of rounds, by cause.",
      [](const JobTime::Sum& sum) { return sum.pause_s; }, page);
  AddHistogram(jobs, "muster_job_rendezvous_seconds",
               "Time in which nodes gathered before a round.",
               &JobStatus::rendezvous_times, page);
  AddHistogram(jobs, "muster_job_recovery_seconds",
               "Time from the early end of a round until all nodes run a later "
               "one.",
               &JobStatus::recovery_times, page);
}

void AddCoordinatorLosses(const CoordinatorLosses& losses, Exposition& page) {
  const auto add = [&page](const char* name, const char* help, int64_t value) {
    page.Family(name, Type::kCounter, help);
    page.Sample({}, static_cast<double>(value));
  };
  add("muster_coordinator_events_omitted_total",
      "Decisions that the event log omits because there were too many.",
      losses.omitted_events);
  add("muster_coordinator_event_log_bytes_lost_total",
      "Bytes of the event log that could not be written.",
      losses.event_log_bytes);
  add("muster_coordinator_watch_events_missed_total",
      "Decisions that operators who watch a job have missed.",
      losses.missed_decisions);
}

void AddActivitySamples(const std::vector<Label>& labels,
                        const std::array<double, kActivities>& seconds,
                        Exposition& page) {
  for (size_t i = 0; i < kActivities; ++i) {
    std::vector<Label> all = labels;
    all.emplace_back("activity", std::string(NameOf(static_cast<Activity>(i))));
    page.Sample(all, seconds[i]);
  }
}

void AddBuildInfo(Exposition& page) {
  page.Family("muster_build_info", Type::kGauge,
              "1; the labels tell the version of the program.");
  const Label labels[] = {{"version", kVersion}};
  page.Sample(labels, 1);
}

}  // namespace muster::rendezvous
