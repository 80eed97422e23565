#ifndef MUSTER_LAUNCHER_DOCTOR_WORKER_ARGUMENTS_H_
#define MUSTER_LAUNCHER_DOCTOR_WORKER_ARGUMENTS_H_

#include <string>
#include <vector>

#include "launcher/doctor/doctor_request.h"

namespace muster::launcher {

// The command line of the job that `launch doctor --nodes` is, behind the flags
// that were given: "--nproc-per-node=1 … LAUNCH doctor --as-node=FILE …".
// `launch_path`: of this program; `worker`: how its worker tells its outcome,
// and what it must know besides. Pure.
std::vector<std::string> WorkerArguments(
    const DoctorRequest& request, const std::string& launch_path,
    const std::vector<std::string>& worker);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_DOCTOR_WORKER_ARGUMENTS_H_
