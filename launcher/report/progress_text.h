#ifndef MUSTER_LAUNCHER_REPORT_PROGRESS_TEXT_H_
#define MUSTER_LAUNCHER_REPORT_PROGRESS_TEXT_H_

#include <chrono>
#include <string>

#include "launcher/report/text_layout.h"
#include "rendezvous/protocol/job_status.h"

namespace muster::launcher {

// This header formats, for people, the progress that a job's workers report.
// All its functions are pure.

// Minimum time of silence for which RankLines shows how long a rank has been
// silent.
inline constexpr Duration kLongSilence = std::chrono::seconds(10);

// One line about the job's progress, "steps 1180 to 1200 (median 1199), rank 3
// is the last; loss 2.31; 408k tokens/s; 7 of 8 ranks report". Empty if no rank
// reports.
std::string ProgressLine(const rendezvous::JobStatus& job);

// The lines that `launch watch` prints below ProgressLine, one for each rank:
// "    rank 3  step 1180  20 behind  loss 2.31  51000 tokens/s".
// If more than eight ranks report, only the slowest and the fastest are shown,
// with their hosts. Ends with a newline. Empty if the workers send only
// heartbeats, which have no progress.
std::string RankLines(const rendezvous::JobStatus& job,
                      const TextTarget& target);

// A table with one line for each rank. If more than sixteen ranks report, the
// table shows the eight with the smallest step or the longest silence, and says
// how many ranks are not shown. Ends with a newline. Empty if no rank reports.
std::string ProgressTable(const rendezvous::JobStatus& job,
                          const TextTarget& target);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_REPORT_PROGRESS_TEXT_H_
