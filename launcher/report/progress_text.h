#ifndef MUSTER_LAUNCHER_REPORT_PROGRESS_TEXT_H_
#define MUSTER_LAUNCHER_REPORT_PROGRESS_TEXT_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "launcher/report/text_style.h"
#include "rendezvous/protocol/job_status.h"

namespace muster::launcher {

// How far the ranks of a job are, from what they say of themselves. Everything
// here is pure.

struct RankProgress {
  int rank = 0;
  std::string host;
  rendezvous::WorkerProgress said;
};
// Of every rank of the current round that has said something, by rank.
std::vector<RankProgress> RanksOf(const rendezvous::JobStatus& job);

// From which on RankLines say so.
inline constexpr Duration kLongSilence = std::chrono::seconds(10);

struct ProgressSummary {
  int reporting = 0;  // ranks that have said something; the rest is over these
  std::optional<int64_t> least_step;  // of those that told one
  std::optional<int64_t> median_step;
  std::optional<int64_t> max_step;
  int slowest_rank = -1;       // the first with least_step
  std::optional<double> loss;  // mean
  double tokens_per_s = 0;     // of all together
  int most_silent_rank = -1;
  Duration longest_silence = Duration::zero();
};
ProgressSummary Summarize(const std::vector<RankProgress>& ranks);

// "steps 1180 to 1200 (median 1199), rank 3 is the last; loss 2.31; 408k
// tokens/s; 7 of 8 ranks report", on one line; empty if none does.
std::string ProgressLine(const rendezvous::JobStatus& job);

// For `launch watch`, below ProgressLine: "    rank 3  step 1180  20 behind
// loss 2.31  51000 tokens/s", a line for each rank; of more than eight, of the
// slowest and the fastest, with their hosts. Ends in a newline; empty if no
// rank has told more than that it lives.
std::string RankLines(const rendezvous::JobStatus& job,
                      const TextTarget& target);

// A table with a line for each rank; of more than sixteen, of the eight that
// are furthest behind or silent for longest, and how many are left out. Ends in
// a newline; empty if no rank reports.
std::string ProgressTable(const rendezvous::JobStatus& job,
                          const TextTarget& target);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_REPORT_PROGRESS_TEXT_H_
