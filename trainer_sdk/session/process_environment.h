#ifndef MUSTER_TRAINER_SDK_SESSION_PROCESS_ENVIRONMENT_H_
#define MUSTER_TRAINER_SDK_SESSION_PROCESS_ENVIRONMENT_H_

#include <map>
#include <string>

namespace muster {

// The variables of this process. If a name occurs twice, the first value
// counts, as in getenv. Must not run while another thread changes the
// environment.
std::map<std::string, std::string> ProcessEnvironment();

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_SESSION_PROCESS_ENVIRONMENT_H_
