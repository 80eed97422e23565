#ifndef MUSTER_LAUNCHER_ADMIN_COMMAND_H_
#define MUSTER_LAUNCHER_ADMIN_COMMAND_H_

#include "launcher/admin_request.h"
#include "launcher/voice.h"

namespace muster::launcher {

// Performs `launch status|watch|cancel|drain` and prints the answer on stdout.
// The exit code: 0; 1 with a line on stderr if the coordinator is not reached
// or refuses.
int AdminCommand(AdminRequest request, const Voice& voice);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_ADMIN_COMMAND_H_
