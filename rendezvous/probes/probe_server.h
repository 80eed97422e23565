#ifndef MUSTER_RENDEZVOUS_PROBES_PROBE_SERVER_H_
#define MUSTER_RENDEZVOUS_PROBES_PROBE_SERVER_H_

#include <memory>

#include "absl/status/statusor.h"
#include "rendezvous/endpoint/endpoint.h"
#include "rendezvous/probes/probe_answer.h"

namespace muster {

// Answers probes over HTTP/1.1, on a thread of its own. Says nothing that is
// secret and takes nothing: whoever reaches the port may ask. A peer has 5 s
// for its request and 64 peers are served at a time.
class ProbeServer {
 public:
  // Listens when it returns; port 0: any that is free; host 0.0.0.0: every
  // address, IPv6 too. `probes` are asked from the server's thread until it is
  // destroyed.
  //
  // Unavailable: it cannot listen there; one line that says why.
  static absl::StatusOr<std::unique_ptr<ProbeServer>> Start(
      const Endpoint& listen, Probes probes);

  ~ProbeServer();
  ProbeServer(const ProbeServer&) = delete;
  ProbeServer& operator=(const ProbeServer&) = delete;

  // Where it listens, with the real port.
  const Endpoint& address() const { return address_; }

 private:
  class Impl;
  ProbeServer(std::unique_ptr<Impl> impl, Endpoint address);

  const std::unique_ptr<Impl> impl_;
  const Endpoint address_;
};

}  // namespace muster

#endif  // MUSTER_RENDEZVOUS_PROBES_PROBE_SERVER_H_
