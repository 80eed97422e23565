#include "rendezvous/dashboard/job_history.h"

#include <algorithm>
#include <set>

#include "base/time.h"

namespace muster::rendezvous {

void JobHistory::Add(const JobStatus& job) {
  const double at_s = ToSeconds(job.age);
  if (!spans_.empty() && at_s < spans_.back().to_s) {
    const uint64_t version = version_;
    *this = JobHistory();
    version_ = version + 1;
  }
  AddSpan(job, at_s);
  if (job.phase != JobPhase::kFinished) AddSample(job, at_s);
}

void JobHistory::AddSpan(const JobStatus& job, double at_s) {
  const bool goes_on = !spans_.empty() && spans_.back().round == job.round &&
                       spans_.back().phase == job.phase;
  if (goes_on) {
    // The history of a finished job does not change any more, so the end of its
    // last span stays as it is.
    if (job.phase == JobPhase::kFinished) return;
    spans_.back().to_s = at_s;
    ++version_;
    return;
  }
  double from_s = std::max(0.0, at_s - ToSeconds(job.phase_age));
  if (!spans_.empty()) {
    Span& last = spans_.back();
    from_s = std::max(from_s, last.to_s);
    last.to_s = from_s;
  }
  spans_.push_back(
      {.round = job.round, .phase = job.phase, .from_s = from_s, .to_s = at_s});
  ++version_;
  if (spans_.size() <= kMaxSpans) return;
  spans_.erase(spans_.begin());
  ++spans_dropped_;
}

void JobHistory::AddSample(const JobStatus& job, double at_s) {
  if (!samples_.empty() && at_s < samples_.back().at_s + distance_s_) return;
  if (samples_.size() == kMaxSamples) {
    for (size_t i = 0; i < kMaxSamples / 2; ++i) samples_[i] = samples_[2 * i];
    samples_.resize(kMaxSamples / 2);
    distance_s_ *= 2;
  }
  const ProgressSummary progress = Summarize(RanksOf(job));
  samples_.push_back({.at_s = at_s,
                      .step = progress.least_step,
                      .loss = progress.loss,
                      .tokens_per_s = progress.tokens_per_s > 0
                                          ? std::optional(progress.tokens_per_s)
                                          : std::nullopt});
  ++version_;
}

void JobHistories::Add(const std::vector<JobStatus>& jobs) {
  std::set<std::string> present;
  std::vector<std::string> finished;
  for (const JobStatus& job : jobs) {
    present.insert(job.run_id);
    if (job.phase == JobPhase::kFinished) finished.push_back(job.run_id);
  }
  std::erase_if(by_job_, [&](const auto& entry) {
    return present.count(entry.first) == 0;
  });
  for (const JobStatus& job : jobs) {
    if (by_job_.count(job.run_id) == 0 && by_job_.size() == kMaxJobs) {
      if (job.phase == JobPhase::kFinished) continue;
      // Remove the histories of finished jobs to make room for this unfinished
      // job.
      while (!finished.empty() && by_job_.size() == kMaxJobs) {
        by_job_.erase(finished.back());
        finished.pop_back();
      }
      if (by_job_.size() == kMaxJobs) continue;
    }
    by_job_[job.run_id].Add(job);
  }
}

const JobHistory* JobHistories::Find(const std::string& run_id) const {
  const auto found = by_job_.find(run_id);
  return found == by_job_.end() ? nullptr : &found->second;
}

}  // namespace muster::rendezvous
