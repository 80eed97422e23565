#ifndef MUSTER_LAUNCHER_DOCTOR_NODES_JOB_H_
#define MUSTER_LAUNCHER_DOCTOR_NODES_JOB_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "launcher/doctor/doctor_request.h"

namespace muster {

// What `launch` does with a command line; its exit code.
using LaunchFunction =
    std::function<int(const std::vector<std::string>& arguments)>;

// `launch doctor --nodes`: a job of launch's, which `launch` runs, with one
// worker on each node, which is RunAsNode. Prints the page of all where this
// node has rank 0. The exit code is the same on every node.
absl::StatusOr<int> RunOnAllNodes(
    const DoctorRequest& request,
    const std::map<std::string, std::string>& environment,
    const LaunchFunction& launch);

}  // namespace muster

#endif  // MUSTER_LAUNCHER_DOCTOR_NODES_JOB_H_
