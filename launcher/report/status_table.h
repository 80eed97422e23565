#ifndef MUSTER_LAUNCHER_REPORT_STATUS_TABLE_H_
#define MUSTER_LAUNCHER_REPORT_STATUS_TABLE_H_

#include <string>
#include <vector>

#include "launcher/report/text_style.h"
#include "rendezvous/protocol/job_status.h"

namespace muster::launcher {

// One job, its nodes and the progress of its ranks, as `launch status RUN_ID`
// prints them. Ends with a newline. Pure.
std::string StatusTable(const rendezvous::JobStatus& job,
                        const TextTarget& target);

// Several jobs, one line for each, as `launch status` prints them. Pure.
std::string JobListTable(const std::vector<rendezvous::JobStatus>& jobs,
                         const TextTarget& target);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_REPORT_STATUS_TABLE_H_
