#ifndef MUSTER_LAUNCHER_REPORT_DECISION_LINE_H_
#define MUSTER_LAUNCHER_REPORT_DECISION_LINE_H_

#include <string>

#include "launcher/report/text_style.h"
#include "rendezvous/protocol/job_status.h"

namespace muster::launcher {

// Formats one decision of the coordinator as `launch watch` prints it, with a
// newline at the end:
// "2026-03-01 14:05:09 UTC  round 2  break   host-b  rank 3 was killed…".
// `unix_time`: when the decision was received, in seconds since 1970. Pure.
std::string DecisionLine(const rendezvous::Decision& decision, double unix_time,
                         TextStyle style);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_REPORT_DECISION_LINE_H_
