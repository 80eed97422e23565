#ifndef MUSTER_RENDEZVOUS_SERVER_GRPC_SERVER_H_
#define MUSTER_RENDEZVOUS_SERVER_GRPC_SERVER_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "base/time.h"
#include "rendezvous/endpoint/endpoint.h"
#include "rendezvous/server/coordinator.h"

namespace grpc {
class ServerCredentials;
}

namespace muster {

// How connections are secured. Today: not at all, beyond the job token.
std::shared_ptr<grpc::ServerCredentials> InsecureServer();

// A coordinator's gRPC face: the Coordinator and Admin services on one port,
// for thousands of streams on a few threads.
class GrpcServer {
 public:
  struct Options {
    // Port 0: any that is free. Host 0.0.0.0: every address, IPv6 too.
    Endpoint listen{"0.0.0.0", kDefaultPort};
    std::shared_ptr<grpc::ServerCredentials> credentials = InsecureServer();
    // The job token that every call must show; empty: none is asked for.
    std::string token;
    // Agents at a time; more are told that there is no room. None: as many as
    // the limit of open files allows, which Start raises as far as it may. (A
    // gRPC listener that runs out of files never accepts again.)
    std::optional<int> most_nodes;
  };

  // Listens when it returns. `coordinator` outlives the server.
  //
  // AlreadyExists: the port is in use. PermissionDenied: a port below 1024.
  // InvalidArgument: not an address of this host. Unavailable: the host does
  // not resolve. Each names the address.
  static absl::StatusOr<std::unique_ptr<GrpcServer>> Start(
      Coordinator* coordinator, const Options& options);

  // As Shutdown(zero).
  ~GrpcServer();

  GrpcServer(const GrpcServer&) = delete;
  GrpcServer& operator=(const GrpcServer&) = delete;

  // Where it listens, with the real port.
  const Endpoint& address() const;
  // How many agents it serves at a time.
  int most_nodes() const;

  // Takes no new connections, lets open streams end by themselves for `grace`,
  // then breaks them. Returns once all are detached. Idempotent.
  void Shutdown(Duration grace);

 private:
  class Impl;
  explicit GrpcServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace muster

#endif  // MUSTER_RENDEZVOUS_SERVER_GRPC_SERVER_H_
