#ifndef MUSTER_BASE_RESOURCE_ROOM_H_
#define MUSTER_BASE_RESOURCE_ROOM_H_

#include "absl/status/status.h"

namespace muster {

// What a program needs beyond what it has.
struct ResourceNeed {
  int threads = 0;
  int descriptors = 0;
};

// Whether this process can have `need`. Found out by having it for a moment,
// but for threads only under a tight limit (some 20 microseconds each).
// ResourceExhausted: one sentence with what there is too little of, which limit
// says so, and what to do.
//
// Libraries that run out of threads or descriptors abort, or report something
// else ("port in use"). Call before they start, and while there is one thread.
absl::Status CheckRoom(const ResourceNeed& need);

// Where the address space is limited (ulimit -v): lets threads share a few
// memory arenas and have small stacks, which else reserve 64 + 8 MiB each. Call
// first in main.
void LiveWithinAddressSpace();

// Ends the process with one line and exit code 1 in place of abort() where an
// exception says that threads or memory ran out. `program` names it in the
// line; a literal.
void TellWhatRanOut(const char* program);

}  // namespace muster

#endif  // MUSTER_BASE_RESOURCE_ROOM_H_
