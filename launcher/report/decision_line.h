#ifndef MUSTER_LAUNCHER_REPORT_DECISION_LINE_H_
#define MUSTER_LAUNCHER_REPORT_DECISION_LINE_H_

#include <string>

#include "launcher/report/text_style.h"
#include "rendezvous/protocol/job_status.h"

namespace muster::launcher {

// One decision as `launch watch` prints it, ending in a newline:
// "2026-03-01 14:05:09 UTC  round 2  break   host-b  rank 3 was killed…".
// `unix_time`: seconds since 1970 at which it was heard. Pure.
std::string DecisionLine(const rendezvous::Decision& decision, double unix_time,
                         TextStyle style);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_REPORT_DECISION_LINE_H_
