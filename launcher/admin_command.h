#ifndef MUSTER_LAUNCHER_ADMIN_COMMAND_H_
#define MUSTER_LAUNCHER_ADMIN_COMMAND_H_

#include "launcher/admin_request.h"
#include "launcher/voice.h"

namespace muster::launcher {

// Performs `launch status|watch|top|logs|stacks|cancel|drain` and prints the
// answer on stdout. Returns the exit code: 0, or 1 with a line on stderr if the
// coordinator cannot be reached or refuses.
int AdminCommand(AdminRequest request, const Voice& voice);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_ADMIN_COMMAND_H_
