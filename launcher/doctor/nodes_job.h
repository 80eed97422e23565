#ifndef MUSTER_LAUNCHER_DOCTOR_NODES_JOB_H_
#define MUSTER_LAUNCHER_DOCTOR_NODES_JOB_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "launcher/doctor/doctor_request.h"
#include "launcher/voice.h"

namespace muster::launcher {

// A function that runs `launch` with the given arguments and returns its exit
// code.
using LaunchFunction =
    std::function<int(const std::vector<std::string>& arguments)>;

// Implements `launch doctor --nodes`: calls `launch` to run a job with one
// worker on each node. The workers (RunAsNode) check the nodes and the
// connections between them. One page shows the results of all nodes. If this
// machine starts the other nodes (--hostfile or --slurm), it prints the page;
// otherwise the node of rank 0 does. The exit code is the same on every node.
// Call while the process has one thread.
absl::StatusOr<int> RunOnAllNodes(
    const DoctorRequest& request,
    const std::map<std::string, std::string>& environment,
    const LaunchFunction& launch, const Voice& voice);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_DOCTOR_NODES_JOB_H_
