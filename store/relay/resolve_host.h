#ifndef MUSTER_STORE_RELAY_RESOLVE_HOST_H_
#define MUSTER_STORE_RELAY_RESOLVE_HOST_H_

#include <sys/socket.h>

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/time.h"

namespace muster {

// An address and port to connect to.
struct HostAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;

  int family() const { return storage.ss_family; }
  const sockaddr* get() const {
    return reinterpret_cast<const sockaddr*>(&storage);
  }
};

// How a name becomes addresses. May take as long as it likes.
using LookUp = std::function<absl::StatusOr<std::vector<HostAddress>>(
    const std::string& host, int port)>;

// By the system's resolver, which may take half a minute where no server of
// names answers.
//   InvalidArgument  the host has no address
absl::StatusOr<std::vector<HostAddress>> SystemLookUp(const std::string& host,
                                                      int port);

// The addresses of a host, at least one, in the order to be tried. Numeric ones
// are not looked up. A name is, by a thread that is left to itself if
// `deadline` (MonotonicNow's clock) comes first, since nothing can call a
// resolver back.
//   InvalidArgument    the host has no address
//   DeadlineExceeded   no answer came in time
//   ResourceExhausted  no thread can be had
absl::StatusOr<std::vector<HostAddress>> ResolveHost(
    const std::string& host, int port, Instant deadline,
    LookUp look_up = SystemLookUp);

}  // namespace muster

#endif  // MUSTER_STORE_RELAY_RESOLVE_HOST_H_
