#ifndef MUSTER_LAUNCHER_REPORT_STATUS_TEXT_H_
#define MUSTER_LAUNCHER_REPORT_STATUS_TEXT_H_

#include <string>
#include <vector>

#include "launcher/report/text_layout.h"
#include "rendezvous/protocol/job_status.h"

namespace muster::launcher {

// Formats one decision of the coordinator as `launch watch` prints it, with a
// newline at the end:
// "2026-03-01 14:05:09 UTC  round 2  break   host-b  rank 3 was killed…".
// `unix_time`: when the decision was received, in seconds since 1970. Pure.
std::string DecisionLine(const rendezvous::Decision& decision, double unix_time,
                         TextStyle style);

// One job, its nodes and the progress of its ranks, as `launch status RUN_ID`
// prints them. Ends with a newline. Pure.
std::string StatusTable(const rendezvous::JobStatus& job,
                        const TextTarget& target);

// Several jobs, one line for each, as `launch status` prints them. Pure.
std::string JobListTable(const std::vector<rendezvous::JobStatus>& jobs,
                         const TextTarget& target);

// The machines with faults, as `launch nodes` prints them. Pure.
std::string HostTable(const std::vector<rendezvous::HostStatus>& hosts);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_REPORT_STATUS_TEXT_H_
