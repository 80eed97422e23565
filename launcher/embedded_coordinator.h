#ifndef MUSTER_LAUNCHER_EMBEDDED_COORDINATOR_H_
#define MUSTER_LAUNCHER_EMBEDDED_COORDINATOR_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "base/time.h"
#include "launcher/voice.h"
#include "rendezvous/endpoint/endpoint.h"
#include "rendezvous/events/event_log.h"
#include "rendezvous/server/coordinator.h"
#include "rendezvous/server/grpc_server.h"

namespace muster::launcher {

// The coordinator of a job inside `launch`.
class EmbeddedCoordinator {
 public:
  struct Options {
    rendezvous::Endpoint listen;
    std::string run_id;  // the only job that meets here
    std::string token;
    std::string run_tag;    // Place::run_tag
    std::string event_log;  // a path; its folder is made. Empty: none.
  };

  // Listens when it returns. Errors as GrpcServer::Start's. Create it after
  // signals have been blocked: it has threads.
  static absl::StatusOr<std::unique_ptr<EmbeddedCoordinator>> Start(
      const Options& options, const Voice& voice);

  rendezvous::Coordinator* coordinator() { return &coordinator_; }
  const rendezvous::Endpoint& address() const { return server_->address(); }

  // Serves on until every job is finished and its agents have their verdict,
  // for `close_timeout` at most from when every job is finished, or until a
  // signal comes.
  void Linger(Duration close_timeout, const Voice& voice);

 private:
  EmbeddedCoordinator(const Options& options, const Voice& voice);
  void WaitForOthers(Duration close_timeout, const Voice& voice);

  std::unique_ptr<rendezvous::EventLog> event_log_;
  rendezvous::Coordinator coordinator_;
  std::unique_ptr<rendezvous::GrpcServer> server_;
};

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_EMBEDDED_COORDINATOR_H_
