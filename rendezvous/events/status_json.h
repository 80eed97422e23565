#ifndef MUSTER_RENDEZVOUS_EVENTS_STATUS_JSON_H_
#define MUSTER_RENDEZVOUS_EVENTS_STATUS_JSON_H_

#include <string>
#include <vector>

#include "rendezvous/protocol/job_status.h"
#include "rendezvous/protocol/node_fault.h"

namespace muster::rendezvous {

// One job as a JSON object on several lines, for programs. Durations are in
// seconds; unknown values are null. Ends with a newline. Pure.
std::string StatusJson(const JobStatus& job);

// Like StatusJson, but on one line, without a newline at the end. Pure.
std::string StatusJsonLine(const JobStatus& job);

// Several jobs as a JSON array of the objects of StatusJson. Pure.
std::string JobListJson(const std::vector<JobStatus>& jobs);

// The machines with faults as a JSON array. Pure.
std::string HostListJson(const std::vector<HostStatus>& hosts);

// How much a line of the kind "state" in the event log contains.
enum class StateDetail {
  kSummary,  // the job's phase, progress, times, slow ranks, verdict
  kNodes,    // kSummary, plus the settings and kMaxStateNodes nodes
};
inline constexpr size_t kMaxStateNodes = 128;

// One job as a JSON object on one line, for the event log: shorter than
// StatusJsonLine, and of limited length even for a job of many nodes. Values of
// the job's command that look like secrets are left out. Pure.
std::string StateJson(const JobStatus& job, StateDetail detail);

// A failure as a JSON object on one line, for the event log. Pure.
std::string FailureJson(const Failure& failure);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_EVENTS_STATUS_JSON_H_
