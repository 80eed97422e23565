#ifndef MUSTER_BASE_TESTING_FREE_PORT_H_
#define MUSTER_BASE_TESTING_FREE_PORT_H_

#include "base/owned_fd.h"

namespace muster {

// Functions for tests that need the number of a TCP port of 127.0.0.1 before or
// after a server listens there. The ports are below the kernel's ephemeral
// range (32768 and above). Until the test binds the port, another test may take
// it.

// A port with a socket that is bound to it and does not listen.
struct HeldPort {
  OwnedFd holder;
  int port = 0;
};
HeldPort HoldPort();

// Returns the number of a port that no socket had bound a moment ago.
int FreePort();

}  // namespace muster

#endif  // MUSTER_BASE_TESTING_FREE_PORT_H_
