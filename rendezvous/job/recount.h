#ifndef MUSTER_RENDEZVOUS_JOB_RECOUNT_H_
#define MUSTER_RENDEZVOUS_JOB_RECOUNT_H_

#include <algorithm>
#include <chrono>
#include <optional>

#include "base/time.h"

namespace muster::rendezvous {

// Decides when the reports of n nodes are counted again to find a majority. A
// count costs O(n log n), so it must not follow each of n reports. Pure.
//
// Each count tells how many votes a majority still lacks. A report brings at
// most one vote. So the next count is due once that many reports have arrived,
// and the report that completes a majority is counted at once. A report may
// also reduce the number of votes that a majority needs, for instance by
// voiding a world. So a count is also due kInterval after the last count.
class Recount {
 public:
  static constexpr Duration kInterval = std::chrono::milliseconds(20);

  // Called for each report.
  void Heard() { ++heard_; }
  // Makes IsDue return true: the votes must be counted now, however few reports
  // have arrived since the last count.
  void Demand() { lacking_ = 0; }
  bool IsDue(Instant now) const {
    return heard_ >= lacking_ || now >= last_ + kInterval;
  }
  // The time at which the reports must be counted again at the latest; nullopt:
  // no report has arrived since they were last counted.
  std::optional<Instant> Deadline() const {
    if (heard_ == 0) return std::nullopt;
    return last_ + kInterval;
  }
  // Records that the reports were counted at `now`. `lacking`: a majority needs
  // at least this number of further votes.
  void Counted(Instant now, int lacking) {
    heard_ = 0;
    lacking_ = std::max(lacking, 1);
    last_ = now;
  }

 private:
  int heard_ = 0;    // number of reports since the last count of all reports
  int lacking_ = 0;  // number of new reports after which all are counted again
  Instant last_;     // time at which all reports were last counted
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_JOB_RECOUNT_H_
