#ifndef MUSTER_TESTS_NAMESPACES_HOSTS_H_
#define MUSTER_TESTS_NAMESPACES_HOSTS_H_

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/owned_fd.h"
#include "base/time.h"

namespace muster {

// The state of the wire between hosts, shared with the process that moves the
// packets; may change at any time.
struct Weather;

// Hosts simulated on this machine: network namespaces, each with one interface
// and address, and a wire between them. A process of the test moves the
// packets, so that packets can be delayed, lost or cut off without support of
// the kernel. The destructor removes everything.
//
// Should be created in a process without other threads.
class Hosts {
 public:
  // PermissionDenied, NotFound: this process may not create namespaces or
  // interfaces; a test should be skipped.
  static absl::StatusOr<std::unique_ptr<Hosts>> Make(int count);
  ~Hosts();
  Hosts(const Hosts&) = delete;
  Hosts& operator=(const Hosts&) = delete;

  // Returns the IPv4 address of `host`, such as "10.213.0.1".
  std::string Address(int host) const;

  // Moves the calling thread to `host`.
  absl::Status Enter(int host) const;

  // Delays all later packets by `delay`.
  void Delay(Duration delay);
  // Loses this number of every thousand packets, drawn from a fixed seed.
  void Lose(int of_a_thousand);
  // Drops all later packets between hosts 0 and 1.
  void Cut();

 private:
  Hosts(std::vector<OwnedFd> namespaces, std::vector<OwnedFd> tunnels);

  const std::vector<OwnedFd> namespaces_;
  const std::vector<OwnedFd> tunnels_;
  Weather* const weather_;
  pid_t wire_ = -1;
};

}  // namespace muster

#endif  // MUSTER_TESTS_NAMESPACES_HOSTS_H_
