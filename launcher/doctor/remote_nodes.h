#ifndef MUSTER_LAUNCHER_DOCTOR_REMOTE_NODES_H_
#define MUSTER_LAUNCHER_DOCTOR_REMOTE_NODES_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "launcher/doctor/doctor_request.h"
#include "launcher/doctor/launch_function.h"
#include "launcher/options/run_options.h"
#include "launcher/voice.h"

namespace muster::launcher {

// `launch doctor --nodes` with --hostfile or --slurm: starts the nodes' agents
// from here, and prints the page of those that came together with what is known
// of the others. The page's exit code. Call while the process has one thread.
//
// `options`: of the job without what its worker must know; for Slurm, `launch`
// runs `arguments`, which say the same.
//
// NotFound: no page came of it, for a reason that was said.
absl::StatusOr<int> RunOverSsh(
    const DoctorRequest& request, const RunOptions& options,
    const std::map<std::string, std::string>& environment, const Voice& voice);
absl::StatusOr<int> RunOverSlurm(
    const DoctorRequest& request, const RunOptions& options,
    const std::vector<std::string>& arguments,
    const std::map<std::string, std::string>& environment,
    const LaunchFunction& launch);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_DOCTOR_REMOTE_NODES_H_
