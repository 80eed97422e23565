#ifndef MUSTER_LAUNCHER_REPORT_STATUS_JSON_H_
#define MUSTER_LAUNCHER_REPORT_STATUS_JSON_H_

#include <string>
#include <vector>

#include "rendezvous/protocol/job_status.h"

namespace muster::launcher {

// One job for programs: a JSON object on several lines. Durations are in
// seconds; what is not known is null. Ends in a newline. Pure.
std::string StatusJson(const rendezvous::JobStatus& job);

// Several jobs for programs: a JSON array of the same objects.
std::string JobListJson(const std::vector<rendezvous::JobStatus>& jobs);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_REPORT_STATUS_JSON_H_
