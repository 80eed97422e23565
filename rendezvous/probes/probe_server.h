#ifndef MUSTER_RENDEZVOUS_PROBES_PROBE_SERVER_H_
#define MUSTER_RENDEZVOUS_PROBES_PROBE_SERVER_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rendezvous/endpoint/endpoint.h"

namespace muster::rendezvous {

// The three probes of Kubernetes. Each returns OkStatus or the reason in one
// line, without blocking, from any thread.
struct Probes {
  // If not OK: Kubernetes restarts the container.
  std::function<absl::Status()> live;
  // Until this returns OK, no other probe is made.
  std::function<absl::Status()> started;
  // OK while the program accepts work; else Kubernetes sends it no traffic
  std::function<absl::Status()> ready;
};

// An HTTP response without its headers.
struct ProbeAnswer {
  int status = 200;
  std::string body;
};

// Answers GET and HEAD of /livez, /startupz and /readyz (a query string is
// ignored) with 200, or 503 and the reason. Otherwise 404 or 405.
ProbeAnswer AnswerProbe(const Probes& probes, const std::string& method,
                        const std::string& target);

// Answers probes over HTTP/1.1 on its own thread. Needs no authentication,
// since the answers hold no secrets and requests change nothing. A peer has 5 s
// for its request. At most 64 peers are served at a time: a further one takes
// the place of the oldest one of the network with the most, so that slow peers
// do not keep the kubelet out.
class ProbeServer {
 public:
  // Listens when it returns. Port 0: any free port. Host 0.0.0.0: all
  // addresses, IPv6 included. `probes` are called from the server's thread
  // until the server is destroyed.
  //
  // Unavailable: it cannot listen there; the message gives the reason in one
  // line.
  static absl::StatusOr<std::unique_ptr<ProbeServer>> Start(
      const Endpoint& listen, Probes probes);

  ~ProbeServer();
  ProbeServer(const ProbeServer&) = delete;
  ProbeServer& operator=(const ProbeServer&) = delete;

  // The address on which the server listens, with the actual port.
  const Endpoint& address() const { return address_; }

 private:
  class Impl;
  ProbeServer(std::unique_ptr<Impl> impl, Endpoint address);

  const std::unique_ptr<Impl> impl_;
  const Endpoint address_;
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_PROBES_PROBE_SERVER_H_
