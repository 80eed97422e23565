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

// Implements `launch doctor --nodes` with --hostfile or --slurm: starts the
// agents of all nodes from this machine, and prints the page of the nodes that
// came, with what is known about the others. Returns the page's exit code. Call
// while the process has one thread.
//
// `options`: those of the job, without the worker's own flags. With Slurm,
// `launch` is called with `arguments`, which are the same options.
//
// NotFound: there is no page; the reason has been printed.
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
