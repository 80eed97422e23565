#ifndef MUSTER_LAUNCHER_DOCTOR_WORKER_ARGUMENTS_H_
#define MUSTER_LAUNCHER_DOCTOR_WORKER_ARGUMENTS_H_

#include <string>
#include <vector>

#include "launcher/doctor/doctor_request.h"

namespace muster::launcher {

// The arguments of the job that `launch doctor --nodes` starts; they follow the
// given flags: "--nproc-per-node=1 … LAUNCH doctor --as-node=FILE …".
// `launch_path`: the path of this program; `worker`: the flags that tell the
// worker where its result goes, and more. Pure.
std::vector<std::string> WorkerArguments(
    const DoctorRequest& request, const std::string& launch_path,
    const std::vector<std::string>& worker);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_DOCTOR_WORKER_ARGUMENTS_H_
