#ifndef MUSTER_LAUNCHER_REPORT_STATUS_JSON_H_
#define MUSTER_LAUNCHER_REPORT_STATUS_JSON_H_

#include <string>
#include <vector>

#include "rendezvous/protocol/job_status.h"

namespace muster::launcher {

// One job as a JSON object on several lines, for programs. Durations are in
// seconds; unknown values are null. Ends with a newline. Pure.
std::string StatusJson(const rendezvous::JobStatus& job);

// Several jobs as a JSON array of the objects of StatusJson.
std::string JobListJson(const std::vector<rendezvous::JobStatus>& jobs);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_REPORT_STATUS_JSON_H_
