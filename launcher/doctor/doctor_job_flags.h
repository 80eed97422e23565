#ifndef MUSTER_LAUNCHER_DOCTOR_DOCTOR_JOB_FLAGS_H_
#define MUSTER_LAUNCHER_DOCTOR_DOCTOR_JOB_FLAGS_H_

#include <string>
#include <vector>

#include "launcher/doctor/doctor_request.h"
#include "launcher/options/run_options.h"

namespace muster::launcher {

// The environment variable that gives a worker of `launch doctor --nodes` the
// job's token. The worker needs the token to ask the coordinator which nodes
// have joined. Agents remove MUSTER_TOKEN from the environment of all workers,
// since most workers are programs of users.
inline constexpr char kWorkersTokenVariable[] = "MUSTER_DOCTOR_TOKEN";

// The functions below are for the job that `launch doctor --nodes` starts. This
// job starts with the nodes that have joined, even if others are missing. All
// functions are pure. `options`: the options of the run that is checked.

// Returns the run's --rdzv-conf with additions. Nodes may have different
// commands. Unless the run gives a time limit, the nodes have one minute to
// join, since a person waits for the result. If all nodes join earlier, the job
// starts at once.
std::string DoctorsRdzvConf(const RunOptions& options);

// The number of nodes that the run needs: MIN of --nnodes=MIN:MAX.
int ExpectedOf(const RunOptions& options);

// Whether a node's exit code means that the job had started without this node.
bool NeverRan(int exit_code);

// Returns flags that let the job start with the nodes that have joined. These
// flags are placed after the given flags and override them. A job with the
// static backend keeps the address at which its nodes meet (--master-addr).
std::vector<std::string> FlagsForPartialJob(const RunOptions& options);

// Returns the arguments of the job that `launch doctor --nodes` starts. The
// returned arguments are placed after the given flags: "--nproc-per-node=1 …
// LAUNCH doctor --as-node=FILE …". `launch_path`: the path of this program;
// `worker`: the flags of the worker itself, such as --as-node. Pure.
std::vector<std::string> WorkerArguments(
    const DoctorRequest& request, const std::string& launch_path,
    const std::vector<std::string>& worker);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_DOCTOR_DOCTOR_JOB_FLAGS_H_
