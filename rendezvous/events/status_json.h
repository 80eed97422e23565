#ifndef MUSTER_RENDEZVOUS_EVENTS_STATUS_JSON_H_
#define MUSTER_RENDEZVOUS_EVENTS_STATUS_JSON_H_

#include <string>
#include <vector>

#include "rendezvous/protocol/job_status.h"

namespace muster::rendezvous {

// One job as a JSON object on several lines, for programs. Durations are in
// seconds; unknown values are null. Ends with a newline. Pure.
std::string StatusJson(const JobStatus& job);

// Like StatusJson, but on one line, without a newline at the end. Pure.
std::string StatusJsonLine(const JobStatus& job);

// Several jobs as a JSON array of the objects of StatusJson. Pure.
std::string JobListJson(const std::vector<JobStatus>& jobs);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_EVENTS_STATUS_JSON_H_
