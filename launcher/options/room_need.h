#ifndef MUSTER_LAUNCHER_OPTIONS_ROOM_NEED_H_
#define MUSTER_LAUNCHER_OPTIONS_ROOM_NEED_H_

#include "base/resource_room.h"
#include "launcher/options/run_options.h"

namespace muster::launcher {

// What an agent with these options needs beyond what a process has when it
// begins: the threads of gRPC, of the store and of logs, the guardian and the
// workers (a limit counts processes and threads alike), and their descriptors.
// With room for a coordinator in the same process. Pure.
ResourceNeed RoomNeededFor(const RunOptions& options);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_OPTIONS_ROOM_NEED_H_
