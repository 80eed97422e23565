#ifndef MUSTER_LAUNCHER_DOCTOR_NODES_JOB_H_
#define MUSTER_LAUNCHER_DOCTOR_NODES_JOB_H_

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "agent/options/defaults.h"
#include "launcher/doctor/doctor_request.h"

namespace muster {

// `launch doctor --nodes`: a job of launch's with one worker on each node,
// which is RunAsNode; `defaults` as a run has them. Prints the page of all
// where this node has rank 0. The exit code is the same on every node.
// InvalidArgument: the flags of the run.
absl::StatusOr<int> RunOnAllNodes(
    const DoctorRequest& request,
    const std::map<std::string, std::string>& environment,
    const DefaultsSource& defaults);

}  // namespace muster

#endif  // MUSTER_LAUNCHER_DOCTOR_NODES_JOB_H_
