#ifndef MUSTER_LAUNCHER_DOCTOR_DOCTOR_COMMAND_H_
#define MUSTER_LAUNCHER_DOCTOR_DOCTOR_COMMAND_H_

#include <map>
#include <string>
#include <vector>

#include "agent/options/defaults.h"
#include "agent/voice.h"

namespace muster {

// `launch doctor`, with the arguments behind that word: prints what was found.
// `defaults` are those of a run, for --nodes. The exit code, as DoctorHelp has
// them. Call while the process has one
// thread.
int DoctorCommand(const std::vector<std::string>& arguments,
                  const std::map<std::string, std::string>& environment,
                  const DefaultsSource& defaults, const Voice& voice);

}  // namespace muster

#endif  // MUSTER_LAUNCHER_DOCTOR_DOCTOR_COMMAND_H_
