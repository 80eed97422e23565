#ifndef MUSTER_RENDEZVOUS_TESTING_LOOPBACK_H_
#define MUSTER_RENDEZVOUS_TESTING_LOOPBACK_H_

#include <netinet/in.h>

namespace muster::rendezvous {

// For tests: 127.0.0.1 with `port`.
sockaddr_in Loopback(int port);

// Returns a TCP socket that listens on a free port of loopback, and sets
// `port`. The caller closes the socket.
int ListenOnLoopback(int* port);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_TESTING_LOOPBACK_H_
