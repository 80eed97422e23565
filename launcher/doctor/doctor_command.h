#ifndef MUSTER_LAUNCHER_DOCTOR_DOCTOR_COMMAND_H_
#define MUSTER_LAUNCHER_DOCTOR_DOCTOR_COMMAND_H_

#include <map>
#include <string>
#include <vector>

#include "launcher/doctor/nodes_job.h"
#include "launcher/voice.h"

namespace muster::launcher {

// Implements `launch doctor`: prints the findings. `arguments`: those after
// "doctor". With --nodes, calls `launch` to run a job. Returns the exit code,
// which DoctorHelp lists. Call while the process has one thread.
int DoctorCommand(const std::vector<std::string>& arguments,
                  const std::map<std::string, std::string>& environment,
                  const LaunchFunction& launch, const Voice& voice);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_DOCTOR_DOCTOR_COMMAND_H_
