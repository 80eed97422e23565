#ifndef MUSTER_LAUNCHER_EMBEDDED_COORDINATOR_H_
#define MUSTER_LAUNCHER_EMBEDDED_COORDINATOR_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/time.h"
#include "launcher/local_token.h"
#include "launcher/voice.h"
#include "rendezvous/endpoint/endpoint.h"
#include "rendezvous/events/event_log.h"
#include "rendezvous/server/coordinator.h"
#include "rendezvous/server/grpc_server.h"
#include "rendezvous/tls/tls_files.h"

namespace muster::launcher {

// The coordinator of a job inside `launch`.
class EmbeddedCoordinator {
 public:
  struct Options {
    rendezvous::Endpoint listen;
    std::string run_id;  // the only run id that is accepted
    std::string token;
    // The folders for the file in which this user's other processes find the
    // token (local_token.h); empty: no such file is made.
    std::vector<std::string> token_parents;
    rendezvous::TlsFiles tls;
    rendezvous::GrpcServer::SetUp set_up =
        rendezvous::GrpcServer::SetUp::kAtOnce;
    std::string run_tag;  // the run's tag, which names its log folder
    // Path of the event log, whose folder is created; empty: none.
    std::string event_log;
    std::string log_directory;  // as --log-dir names it; `event_log` is below
  };

  // The coordinator listens when Start returns. Errors: those of
  // GrpcServer::Start, and AlreadyExists: another job of this user is about to
  // listen at that address. Must be called after signals have been blocked,
  // because the coordinator has threads.
  static absl::StatusOr<std::unique_ptr<EmbeddedCoordinator>> Start(
      const Options& options, const Voice& voice);

  rendezvous::Coordinator* coordinator() { return &coordinator_; }
  const rendezvous::Endpoint& address() const { return server_->address(); }
  // For the liveness probe: whether the listener answers (GrpcServer::Check).
  absl::Status Check() { return server_->Check(); }

  // Keeps serving until every job is finished and its agents have their
  // verdict, or a signal arrives, or `close_timeout` has passed since every job
  // finished.
  void Linger(Duration close_timeout, const Voice& voice);

 private:
  EmbeddedCoordinator(const Options& options, const Voice& voice);
  // Makes the token's file for `listen`, whose port is known. AlreadyExists: as
  // LocalToken::Keep; other failures are only told.
  absl::Status KeepToken(const rendezvous::Endpoint& listen,
                         const Options& options, const Voice& voice);
  void WaitForOthers(Duration close_timeout, const Voice& voice);

  std::unique_ptr<rendezvous::EventLog> event_log_;
  rendezvous::Coordinator coordinator_;
  std::unique_ptr<LocalToken> local_token_;
  std::unique_ptr<rendezvous::GrpcServer> server_;
};

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_EMBEDDED_COORDINATOR_H_
