#ifndef MUSTER_LAUNCHER_DOCTOR_NODE_WORKER_H_
#define MUSTER_LAUNCHER_DOCTOR_NODE_WORKER_H_

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "launcher/doctor/doctor_request.h"

namespace muster::launcher {

// A worker of the job that `launch doctor --nodes` is: looks at its node, and
// together with the others at what lies between them. Rank 0 leaves the page in
// request.outcome_file, where the `launch` that asked waits for it; where no
// file is named, it prints it in lines for a `launch` on another machine.
absl::StatusOr<int> RunAsNode(
    const DoctorRequest& request,
    const std::map<std::string, std::string>& environment);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_DOCTOR_NODE_WORKER_H_
