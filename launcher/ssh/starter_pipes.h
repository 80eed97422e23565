#ifndef MUSTER_LAUNCHER_SSH_STARTER_PIPES_H_
#define MUSTER_LAUNCHER_SSH_STARTER_PIPES_H_

#include <string>

#include "launcher/options/remote_options.h"

namespace muster::launcher {

// Where an agent that another `launch` started tells it the port of the
// coordinator that it hosts (a line) and the verdict (text): numbers of open
// descriptors.
inline constexpr char kEndpointVariable[] = "MUSTER_ENDPOINT_FD";
inline constexpr char kVerdictVariable[] = "MUSTER_VERDICT_FD";
// Its Telling, as a number: the starter shows what all of them say.
inline constexpr char kTellingVariable[] = "MUSTER_TELLING";
// The name that its messages begin with: the one its starter was called by.
inline constexpr char kCalledVariable[] = "MUSTER_CALLED_AS";

// Takes them out of this process's environment into `options`, and keeps them
// from the programs that it starts. Call while there is one thread, before the
// environment is read.
void TakeStarterPipes(RemoteOptions& options);

// The same for the name; `name` where there is none.
std::string TakeCalledName(const std::string& name);

// Tells the port; does nothing where nobody asked.
void TellPort(const RemoteOptions& options, int port);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_SSH_STARTER_PIPES_H_
