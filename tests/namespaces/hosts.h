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

// The state of the simulated network between the hosts: delay, loss and cuts.
// It is in memory that is shared with the process that forwards the packets, so
// a change takes effect at once.
struct Weather;

// Hosts simulated on this machine: network namespaces, each with one interface
// and one address. A child process forwards the packets between them. So a test
// can delay, lose or cut off packets without support of the kernel. The
// destructor removes the namespaces and ends the child process.
//
// Should be created in a process without other threads.
class Hosts {
 public:
  // Creates `count` hosts. PermissionDenied, NotFound: this process may not
  // create namespaces or interfaces; the test should be skipped.
  static absl::StatusOr<std::unique_ptr<Hosts>> Make(int count);
  ~Hosts();
  Hosts(const Hosts&) = delete;
  Hosts& operator=(const Hosts&) = delete;

  // Returns the IPv4 address of `host`, such as "10.213.0.1".
  std::string Address(int host) const;

  // Moves the calling thread to the network namespace of `host`.
  absl::Status Enter(int host) const;

  // From now on, delays each packet by `delay`.
  void Delay(Duration delay);
  // From now on, loses packets at random, with a fixed seed: on average
  // `of_a_thousand` of every thousand.
  void Lose(int of_a_thousand);
  // From now on drops all packets between hosts 0 and 1.
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
