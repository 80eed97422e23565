#ifndef MUSTER_LAUNCHER_DOCTOR_NODE_WORKER_H_
#define MUSTER_LAUNCHER_DOCTOR_NODE_WORKER_H_

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "launcher/doctor/doctor_request.h"

namespace muster::launcher {

// Runs one worker of the job that `launch doctor --nodes` starts: checks its
// own node and, together with the other workers, the connections between the
// nodes. Rank 0 writes the page to request.outcome_file for the `launch` on its
// node, or, if the file name is empty, prints it as encoded lines for a
// `launch` on another machine.
absl::StatusOr<int> RunAsNode(
    const DoctorRequest& request,
    const std::map<std::string, std::string>& environment);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_DOCTOR_NODE_WORKER_H_
