#ifndef MUSTER_RENDEZVOUS_TESTING_LOOPBACK_H_
#define MUSTER_RENDEZVOUS_TESTING_LOOPBACK_H_

#include <netinet/in.h>

namespace muster {

// For tests: 127.0.0.1 with `port`.
sockaddr_in Loopback(int port);

// A TCP socket that listens on a free port of loopback, which it puts into
// `port`; the caller closes it.
int ListenOnLoopback(int* port);

}  // namespace muster

#endif  // MUSTER_RENDEZVOUS_TESTING_LOOPBACK_H_
