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

// How the wire between hosts treats packets. Shared with the process that
// moves them; each may change at any time.
struct Weather;

// Hosts on this machine: network namespaces, each with one interface and an
// address of its own, and a wire between them that a process of ours moves the
// packets over. So that packets can be late, lost or cut off without what the
// kernel may lack for it. Nothing is left when this is gone.
//
// The process that makes it should have no other threads.
class Hosts {
 public:
  // PermissionDenied or NotFound where this process may not have namespaces or
  // interfaces of its own: a reason to skip a test.
  static absl::StatusOr<std::unique_ptr<Hosts>> Make(int count);
  ~Hosts();
  Hosts(const Hosts&) = delete;
  Hosts& operator=(const Hosts&) = delete;

  // "10.213.0.1".
  std::string Address(int host) const;

  // Moves this process (its calling thread) to `host`.
  absl::Status Enter(int host) const;

  // Every packet is that much later from now on.
  void Delay(Duration delay);
  // Of a thousand packets so many are lost, drawn from a fixed seed.
  void Lose(int of_a_thousand);
  // No packet passes between hosts 0 and 1 any more.
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
