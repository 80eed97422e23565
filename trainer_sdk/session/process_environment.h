#ifndef MUSTER_TRAINER_SDK_SESSION_PROCESS_ENVIRONMENT_H_
#define MUSTER_TRAINER_SDK_SESSION_PROCESS_ENVIRONMENT_H_

#include <map>
#include <string>

namespace muster {

// This process's variables. Of one that is set twice, the first, as getenv has
// it. Not while another thread changes them.
std::map<std::string, std::string> ProcessEnvironment();

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_SESSION_PROCESS_ENVIRONMENT_H_
