#ifndef MUSTER_STORE_CLIENT_TCP_CONNECT_H_
#define MUSTER_STORE_CLIENT_TCP_CONNECT_H_

#include <string>

#include "absl/status/statusor.h"
#include "base/owned_fd.h"
#include "base/time.h"

namespace muster {

// "host:port", an IPv6 address in brackets.
std::string HostPort(const std::string& host, int port);

// Until when the first of `turns` may try that share the time from `now` to
// `deadline`: what it leaves is the others'. Pure.
Instant ShareOf(Instant deadline, Instant now, int turns);

// A TCP connection, non-blocking and without delay, to the first of the host's
// addresses that answers, each within its share of the time: one that a black
// hole swallows leaves time for the next. One attempt: trying again is the
// caller's. A peer that vanishes without a word is noticed after about half a
// minute.
//
// Unavailable: the name is unknown, nobody listens, or the deadline passed;
//   with what the system said about the last address. Resolving a name takes
//   as long as the system's resolver allows it.
absl::StatusOr<OwnedFd> ConnectTcp(const std::string& host, int port,
                                   Instant deadline);

}  // namespace muster

#endif  // MUSTER_STORE_CLIENT_TCP_CONNECT_H_
