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

// Implements `launch doctor --nodes`: runs, by `launch`, a job with one worker
// on each node (RunAsNode). Prints the page of all nodes on the node of rank 0,
// or on the machine that started the other nodes. The exit code is the same on
// every node. Call while the process has one thread.
absl::StatusOr<int> RunOnAllNodes(
    const DoctorRequest& request,
    const std::map<std::string, std::string>& environment,
    const LaunchFunction& launch, const Voice& voice);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_DOCTOR_NODES_JOB_H_
