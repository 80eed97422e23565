#ifndef MUSTER_STORE_CLIENT_TCP_CONNECT_H_
#define MUSTER_STORE_CLIENT_TCP_CONNECT_H_

#include <string>

#include "absl/status/statusor.h"
#include "base/owned_fd.h"
#include "base/time.h"

namespace muster::store {

// Returns "host:port", with brackets around an IPv6 address.
std::string HostPort(const std::string& host, int port);

// Divides the time from `now` to `deadline` equally among `turns` attempts and
// returns the deadline of the first one. Time that it does not use is left to
// the other attempts. Pure.
Instant ShareOf(Instant deadline, Instant now, int turns);

// Returns a non-blocking TCP connection with TCP_NODELAY to the first address
// of `host` that accepts it. Each address gets its share of the time, so that
// an address that drops all packets leaves time for the next. Makes one
// attempt; the caller retries. Keep-alive notices a peer that vanished after
// about half a minute.
//
// Unavailable: the name is unknown, the connection was refused, or the deadline
// passed; the message has the system's error for the last address. Resolving a
// name may block longer than `deadline`, as long as the system's resolver
// takes.
absl::StatusOr<OwnedFd> ConnectTcp(const std::string& host, int port,
                                   Instant deadline);

}  // namespace muster::store

#endif  // MUSTER_STORE_CLIENT_TCP_CONNECT_H_
