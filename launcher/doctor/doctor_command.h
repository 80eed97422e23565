#ifndef MUSTER_LAUNCHER_DOCTOR_DOCTOR_COMMAND_H_
#define MUSTER_LAUNCHER_DOCTOR_DOCTOR_COMMAND_H_

#include <map>
#include <string>
#include <vector>

#include "launcher/doctor/nodes_job.h"
#include "launcher/voice.h"

namespace muster::launcher {

// `launch doctor`, with the arguments behind that word: prints what was found.
// --nodes runs a job by `launch`. The exit code, as DoctorHelp has them. Call
// while the process has one thread.
int DoctorCommand(const std::vector<std::string>& arguments,
                  const std::map<std::string, std::string>& environment,
                  const LaunchFunction& launch, const Voice& voice);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_DOCTOR_DOCTOR_COMMAND_H_
