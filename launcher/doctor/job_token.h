#ifndef MUSTER_LAUNCHER_DOCTOR_JOB_TOKEN_H_
#define MUSTER_LAUNCHER_DOCTOR_JOB_TOKEN_H_

namespace muster::launcher {

// In which variable a worker of `launch doctor --nodes` finds the job's token,
// with which it asks the coordinator whom it sees. Agents keep MUSTER_TOKEN
// from workers, which are other people's programs; this one is our own.
inline constexpr char kWorkersTokenVariable[] = "MUSTER_DOCTOR_TOKEN";

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_DOCTOR_JOB_TOKEN_H_
