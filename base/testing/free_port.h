#ifndef MUSTER_BASE_TESTING_FREE_PORT_H_
#define MUSTER_BASE_TESTING_FREE_PORT_H_

#include "base/owned_fd.h"

namespace muster {

// For tests that must know a TCP port of 127.0.0.1 before anybody listens
// there, or after: one below those that the kernel gives to whoever asks for
// any (32768 and above). Until a test binds one of these again, a connection or
// a server of some other test may have it.

// A port and the socket that is bound to it and does not listen.
struct HeldPort {
  OwnedFd holder;
  int port = 0;
};
HeldPort HoldPort();

// A port that nothing was bound to a moment ago.
int FreePort();

}  // namespace muster

#endif  // MUSTER_BASE_TESTING_FREE_PORT_H_
