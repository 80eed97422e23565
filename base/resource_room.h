#ifndef MUSTER_BASE_RESOURCE_ROOM_H_
#define MUSTER_BASE_RESOURCE_ROOM_H_

#include "absl/status/status.h"

namespace muster {

// The resources that a program needs in addition to those in use.
struct ResourceNeed {
  int threads = 0;
  int descriptors = 0;
};

// Checks whether this process can get `need` by allocating it for a moment.
// Creates threads only if a limit on them is tight, because each takes about 20
// microseconds. ResourceExhausted: one sentence with the missing resource, the
// limit, and what to do.
//
// Call this while the process has one thread, before libraries are started that
// use threads or descriptors. A library that runs out of them aborts, or
// reports a misleading error ("port in use").
absl::Status CheckRoom(const ResourceNeed& need);

// If the address space is limited (ulimit -v), lets threads share a few malloc
// arenas and use small stacks. Otherwise each thread would reserve 64 MiB for
// its arena and 8 MiB for its stack. Call first in main.
void ReduceThreadMemory();

// Installs a handler for exceptions that report a lack of threads or memory.
// The process then ends with one line and exit code 1 instead of abort().
// `program`: the name shown in that line; must be a literal.
void InstallOutOfResourceHandler(const char* program);

// Raises this process's soft limit of open descriptors as far as allowed.
// Returns the number of connections that a server may accept if it keeps
// `kept_for_others` descriptors for files, pipes and epoll sets. The result is
// at least half of the limit, but at most 1,000,000.
//
// A gRPC listener that runs out of descriptors never accepts again, so the
// limit must be raised and known before the first connection.
int RaiseDescriptorLimit(int kept_for_others);

}  // namespace muster

#endif  // MUSTER_BASE_RESOURCE_ROOM_H_
