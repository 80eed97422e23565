#ifndef MUSTER_LAUNCHER_DOCTOR_JOB_TOKEN_H_
#define MUSTER_LAUNCHER_DOCTOR_JOB_TOKEN_H_

namespace muster::launcher {

// The environment variable that gives a worker of `launch doctor --nodes` the
// job's token. The worker needs the token to ask the coordinator which nodes
// have joined. Agents remove MUSTER_TOKEN from the environment of all workers,
// since most workers are programs of users.
inline constexpr char kWorkersTokenVariable[] = "MUSTER_DOCTOR_TOKEN";

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_DOCTOR_JOB_TOKEN_H_
