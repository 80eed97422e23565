#ifndef MUSTER_LAUNCHER_SSH_STARTER_PIPES_H_
#define MUSTER_LAUNCHER_SSH_STARTER_PIPES_H_

#include <string>

#include "launcher/options/remote_options.h"

namespace muster::launcher {

// Variables with the numbers of open descriptors. An agent that another
// `launch` started writes the port of its coordinator (one line) to the first
// and the verdict (text) to the second.
inline constexpr char kEndpointVariable[] = "MUSTER_ENDPOINT_FD";
inline constexpr char kVerdictVariable[] = "MUSTER_VERDICT_FD";
// The agent's Telling as a number: which of the messages this agent prints,
// since the starter shows the messages of all agents.
inline constexpr char kTellingVariable[] = "MUSTER_TELLING";
// The program name at the beginning of the agent's messages: the name by which
// its starter was called.
inline constexpr char kCalledVariable[] = "MUSTER_CALLED_AS";

// Moves the variables from this process's environment to `options`, and sets
// the descriptors close-on-exec. Call while there is one thread, before the
// environment is read.
void TakeStarterPipes(RemoteOptions& options);

// Like TakeStarterPipes, for the program name. Returns `name` if the variable
// is not set.
std::string TakeCalledName(const std::string& name);

// Writes the port to the starter's descriptor, if there is one.
void TellPort(const RemoteOptions& options, int port);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_SSH_STARTER_PIPES_H_
