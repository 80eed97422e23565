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

// Listens on a free port, as workers do, and sends this node's wall clock time
// to every client, in a thread, until destruction.
class ProbeListener {
 public:
  // Starts listening. Unavailable: no port is free.
  static absl::StatusOr<std::unique_ptr<ProbeListener>> Start();
  ~ProbeListener();
  ProbeListener(const ProbeListener&) = delete;
  ProbeListener& operator=(const ProbeListener&) = delete;

  int port() const { return port_; }

 private:
  ProbeListener(OwnedFd listening, OwnedFd stopped, OwnedFd stop, int port);
  void Serve();

  const OwnedFd listening_;
  // read end of a pipe; readable once the destructor has closed stop_, the
  // write end
  const OwnedFd stopped_;
  OwnedFd stop_;
  const int port_;
  std::thread thread_;
};

// The result of one attempt to reach another node's listener.
struct Probe {
  std::string error;  // reason why the node was not reached; empty: reached
  Duration round_trip = Duration::zero();
  // Clock difference: the other node's wall clock minus this node's.
  Duration clock_ahead = Duration::zero();
};

// Connects to all `targets` (addresses, not host names) at the same time. Gives
// up each attempt at `deadline`. Returns one result for each target.
std::vector<Probe> ProbeAll(const std::vector<rendezvous::Endpoint>& targets,
                            Instant deadline);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_DOCTOR_NODE_PROBE_H_
