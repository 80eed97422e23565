#ifndef MUSTER_RENDEZVOUS_SERVER_GRPC_SERVER_H_
#define MUSTER_RENDEZVOUS_SERVER_GRPC_SERVER_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/time.h"
#include "rendezvous/endpoint/endpoint.h"
#include "rendezvous/server/coordinator.h"
#include "rendezvous/tls/tls_files.h"

namespace muster::rendezvous {

// A coordinator's gRPC server: the Coordinator and Admin services on one port,
// for thousands of streams on a few threads. A Listener accepts, limits and
// closes the connections.
class GrpcServer {
 public:
  // When gRPC is set up. The set-up takes a few milliseconds and starts several
  // threads.
  enum class SetUp {
    kAtOnce,
    // gRPC is set up at the first connection, since a coordinator may never get
    // a connection.
    kWithFirstConnection,
  };
  struct Options {
    // The address to listen on. Port 0: any free port. Host 0.0.0.0: all
    // addresses, IPv6 included.
    Endpoint listen{"0.0.0.0", kDefaultPort};
    // TLS files for mutual TLS, checked by CheckTlsFiles. If none are given,
    // the certificates for mutual TLS are made from `tokens`
    // (CoordinatorIdentity).
    TlsFiles tls;
    // If `tls` is given: tokens, one of which every call must carry. Otherwise:
    // the secrets from which the certificates of coordinator and callers are
    // derived (CoordinatorIdentity). If `tls` and `tokens` are both empty,
    // connections are unencrypted and every client may call.
    std::vector<std::string> tokens;
    // Maximum number of attached agents; further ones are refused with
    // RESOURCE_EXHAUSTED. nullopt: as many as this process may have open files;
    // GrpcServer::Start raises that limit (RLIMIT_NOFILE) to its maximum.
    std::optional<int> max_nodes;
    // Maximum number of attached agents of one principal; nullopt: no limit.
    std::optional<int> max_nodes_per_principal;
    SetUp set_up = SetUp::kAtOnce;
  };

  // Calls Listen, then Serve; returns the first error.
  static absl::StatusOr<std::unique_ptr<GrpcServer>> Start(
      Coordinator* coordinator, const Options& options);

  // Binds the port. Connections wait until Serve. Used by a caller that must
  // know that it owns the port before it makes a coordinator.
  //
  // AlreadyExists: the port is in use. PermissionDenied: a port below 1024.
  // InvalidArgument: not an address of this host. Unavailable: the host name
  // does not resolve. Each message names the address.
  static absl::StatusOr<std::unique_ptr<GrpcServer>> Listen(
      const Options& options);
  // Starts to serve connections; call it once. `coordinator` must outlive the
  // server. ResourceExhausted, Unavailable: no thread can be started, or gRPC
  // does not start.
  absl::Status Serve(Coordinator* coordinator);

  // Shuts down without a grace period.
  ~GrpcServer();

  GrpcServer(const GrpcServer&) = delete;
  GrpcServer& operator=(const GrpcServer&) = delete;

  // The address on which the server listens, with the actual port.
  const Endpoint& address() const;
  // The maximum number of attached agents.
  int max_nodes() const;

  // For liveness probes, once Serve has succeeded. Returns OK, or a one-line
  // reason why the listener counts as dead. Each call makes the listener
  // connect to itself, and returns the result of earlier connections. Does not
  // block. Any thread.
  absl::Status Check();

  // Stops accepting connections, waits up to `grace` for open streams to end,
  // then breaks them. Returns when all streams have ended. Idempotent.
  void Shutdown(Duration grace);

 private:
  class Impl;
  explicit GrpcServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_SERVER_GRPC_SERVER_H_
