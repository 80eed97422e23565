#ifndef MUSTER_STORE_RELAY_RESOLVE_HOST_H_
#define MUSTER_STORE_RELAY_RESOLVE_HOST_H_

#include <sys/socket.h>

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/time.h"

namespace muster::store {

// A socket address to connect to.
struct HostAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;

  int family() const { return storage.ss_family; }
  const sockaddr* get() const {
    return reinterpret_cast<const sockaddr*>(&storage);
  }
};

// Resolves a name. May block without limit.
using LookUp = std::function<absl::StatusOr<std::vector<HostAddress>>(
    const std::string& host, int port)>;

// Resolves by the system's resolver, which may take half a minute if no name
// server answers.
//   InvalidArgument  the host has no address
absl::StatusOr<std::vector<HostAddress>> SystemLookUp(const std::string& host,
                                                      int port);

// Returns the addresses of a host, at least one, in the order to try. Numeric
// addresses need no look-up. Names are looked up on a thread of their own,
// which is abandoned if `deadline` (on the clock of MonotonicNow) passes first,
// since a look-up cannot be cancelled.
//   InvalidArgument    the host has no address
//   DeadlineExceeded   no answer came in time
//   ResourceExhausted  no thread can be had
absl::StatusOr<std::vector<HostAddress>> ResolveHost(
    const std::string& host, int port, Instant deadline,
    LookUp look_up = SystemLookUp);

}  // namespace muster::store

#endif  // MUSTER_STORE_RELAY_RESOLVE_HOST_H_
