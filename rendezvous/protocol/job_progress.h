#ifndef MUSTER_RENDEZVOUS_PROTOCOL_JOB_PROGRESS_H_
#define MUSTER_RENDEZVOUS_PROTOCOL_JOB_PROGRESS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rendezvous/protocol/job_status.h"

namespace muster::rendezvous {

// This header computes the progress of a whole job from the progress that its
// workers report. All functions are pure.

// One rank with its host and the newest progress that the rank has reported.
struct RankProgress {
  int rank = 0;
  std::string host;
  WorkerProgress said;
};
// The ranks of the current round that have reported progress, in the order of
// their rank.
std::vector<RankProgress> RanksOf(const JobStatus& job);

struct ProgressSummary {
  int reporting = 0;                  // number of ranks that have reported
  std::optional<int64_t> least_step;  // smallest step that a rank reported
  std::optional<int64_t> median_step;
  std::optional<int64_t> max_step;
  int slowest_rank = -1;       // lowest rank whose step is least_step; -1: none
  std::optional<double> loss;  // mean of the ranks' losses
  double tokens_per_s = 0;     // sum over the ranks that report a rate
  int most_silent_rank = -1;
  Duration longest_silence = Duration::zero();
};
ProgressSummary Summarize(const std::vector<RankProgress>& ranks);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_PROTOCOL_JOB_PROGRESS_H_
