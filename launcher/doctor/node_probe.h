#ifndef MUSTER_LAUNCHER_DOCTOR_NODE_PROBE_H_
#define MUSTER_LAUNCHER_DOCTOR_NODE_PROBE_H_

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "base/owned_fd.h"
#include "base/time.h"
#include "rendezvous/endpoint/endpoint.h"

namespace muster::launcher {

// Listens on a fresh port, as workers do, and tells whoever connects this
// node's wall clock, until it is gone.
class ProbeListener {
 public:
  // Unavailable: no port can be had.
  static absl::StatusOr<std::unique_ptr<ProbeListener>> Start();
  ~ProbeListener();
  ProbeListener(const ProbeListener&) = delete;
  ProbeListener& operator=(const ProbeListener&) = delete;

  int port() const { return port_; }

 private:
  ProbeListener(OwnedFd listening, OwnedFd stopped, OwnedFd stop, int port);
  void Serve();

  const OwnedFd listening_;
  const OwnedFd stopped_;  // readable once stop_ is closed
  OwnedFd stop_;
  const int port_;
  std::thread thread_;
};

// What became of one attempt to reach another node's listener.
struct Probe {
  std::string error;  // empty: it was reached
  Duration round_trip = Duration::zero();
  Duration clock_ahead = Duration::zero();  // its wall clock before ours
};

// Connects to all of `targets` (addresses, not names) at once; each has until
// `deadline`. By target.
std::vector<Probe> ProbeAll(const std::vector<rendezvous::Endpoint>& targets,
                            Instant deadline);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_DOCTOR_NODE_PROBE_H_
