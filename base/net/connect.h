#ifndef MUSTER_BASE_NET_CONNECT_H_
#define MUSTER_BASE_NET_CONNECT_H_

#include <string>

#include "absl/status/statusor.h"
#include "base/net/socket_address.h"
#include "base/owned_fd.h"
#include "base/time.h"

namespace muster {

// Divides the time from `now` to `deadline` equally among `turns` attempts and
// returns the deadline of the first attempt. Time that this attempt does not
// use is left to the later attempts. Pure.
Instant ShareOf(Instant deadline, Instant now, size_t turns);

// Returns the result of connecting the non-blocking TCP socket `fd`, which has
// become writable: 0 or the errno. If `fd` is connected to itself, returns
// ECONNREFUSED. A socket connects to itself if no process listens on the target
// port, and the kernel chooses the same port as the local port of `fd`.
int ConnectResult(int fd);

// Returns a non-blocking TCP connection with TCP_NODELAY. If the peer
// vanishes, keep-alive ends the connection after about half a minute. Makes one
// attempt; the caller retries.
//   Unavailable  refused, unreachable, or not accepted until the deadline; the
//                message is the system's error
absl::StatusOr<OwnedFd> Connect(const SocketAddress& address, Instant deadline);

// Resolves `host` and connects to the first of its addresses that accepts. Each
// address gets an equal share of the time, so that an address that drops all
// packets leaves time for the next.
//   Unavailable  the name does not resolve, or no address accepted; the message
//                has the error of the last address
absl::StatusOr<OwnedFd> ConnectTcp(const std::string& host, int port,
                                   Instant deadline);

// Limits the interval between retransmissions on the TCP socket `fd` to one
// second. By default the kernel doubles the interval after each retransmission,
// up to two minutes. For example, if the network fails for 10 s, the next
// retransmission may come as late as 10 s after the failure has ended. Sockets
// that a listening socket accepts inherit the limit.
//
// Does nothing before Linux 6.15. The socket should have a TCP_USER_TIMEOUT.
// Without it the kernel ends the connection after a fixed number of
// retransmissions, and with shorter intervals this number is reached sooner.
void LimitRetransmissionInterval(int fd);

}  // namespace muster

#endif  // MUSTER_BASE_NET_CONNECT_H_
