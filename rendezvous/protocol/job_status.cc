#include "rendezvous/protocol/job_status.h"

#include <algorithm>

namespace muster::rendezvous {

const char* PhaseText(JobPhase phase) {
  switch (phase) {
    case JobPhase::kGathering:
      return "gathering";
    case JobPhase::kRunning:
      return "running";
    case JobPhase::kStopping:
      return "stopping";
    case JobPhase::kFinished:
      return "finished";
  }
  return "unknown";
}

const char* PhaseText(NodePhase phase) {
  switch (phase) {
    case NodePhase::kIdle:
      return "idle";
    case NodePhase::kRunning:
      return "running";
    case NodePhase::kStopping:
      return "stopping";
    case NodePhase::kSucceeded:
      return "succeeded";
  }
  return "unknown";
}

const char* PhaseText(SlowPhase phase) {
  switch (phase) {
    case SlowPhase::kCompute:
      return "compute";
    case SlowPhase::kData:
      return "data";
    case SlowPhase::kNetwork:
      return "network";
  }
  return "unknown";
}

const char* ComparedText(SlowPhase phase) {
  return phase == SlowPhase::kNetwork ? "the other links" : "the median";
}

const char* HealthText(Health health) {
  switch (health) {
    case Health::kHealthy:
      return "healthy";
    case Health::kUnchecked:
      return "unchecked";
    case Health::kUnhealthy:
      return "unhealthy";
  }
  return "unknown";
}

const char* HostStateText(HostState state) {
  switch (state) {
    case HostState::kHealthy:
      return "healthy";
    case HostState::kSuspected:
      return "suspected";
    case HostState::kQuarantined:
      return "quarantined";
    case HostState::kBanned:
      return "banned";
    case HostState::kFreed:
      return "freed";
  }
  return "unknown";
}

const char* OutcomeText(Outcome outcome) {
  switch (outcome) {
    case Outcome::kSucceeded:
      return "succeeded";
    case Outcome::kFailed:
      return "failed";
    case Outcome::kCancelled:
      return "cancelled";
    case Outcome::kTimedOut:
      return "timed out";
    case Outcome::kPreempted:
      return "preempted";
  }
  return "unknown";
}

std::vector<RankProgress> RanksOf(const JobStatus& job) {
  std::vector<RankProgress> ranks;
  // Global rank of the first worker of `node`. Nodes are in the order of their
  // group rank.
  int first_rank = 0;
  for (const NodeStatus& node : job.nodes) {
    if (!node.group_rank) continue;
    for (const WorkerProgress& said : node.progress) {
      ranks.push_back({.rank = first_rank + said.local_rank,
                       .host = node.node.host,
                       .said = said});
    }
    first_rank += node.node.slots;
  }
  return ranks;
}

ProgressSummary Summarize(const std::vector<RankProgress>& ranks) {
  ProgressSummary summary;
  std::vector<int64_t> steps;
  double losses = 0;
  int told_loss = 0;
  for (const RankProgress& rank : ranks) {
    const WorkerProgress& said = rank.said;
    ++summary.reporting;
    if (said.step) {
      if (!summary.least_step || *said.step < *summary.least_step) {
        summary.least_step = said.step;
        summary.slowest_rank = rank.rank;
      }
      steps.push_back(*said.step);
    }
    if (said.loss) {
      losses += *said.loss;
      ++told_loss;
    }
    if (said.tokens_per_s) summary.tokens_per_s += *said.tokens_per_s;
    if (summary.most_silent_rank < 0 ||
        said.silent_for > summary.longest_silence) {
      summary.most_silent_rank = rank.rank;
      summary.longest_silence = said.silent_for;
    }
  }
  if (told_loss > 0) summary.loss = losses / told_loss;
  if (!steps.empty()) {
    std::sort(steps.begin(), steps.end());
    summary.median_step = steps[steps.size() / 2];
    summary.max_step = steps.back();
  }
  return summary;
}

}  // namespace muster::rendezvous
