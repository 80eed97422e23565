#ifndef MUSTER_LAUNCHER_EMBEDDED_COORDINATOR_H_
#define MUSTER_LAUNCHER_EMBEDDED_COORDINATOR_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/time.h"
#include "launcher/local_token.h"
#include "launcher/recorded_job.h"
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
    HostedJob job;  // the only job that is accepted
    // Folder of the journal of the job's state (--state-dir); empty: none.
    std::string state_dir;
    std::string token;
    // The folders for the file in which this user's other processes find the
    // token (local_token.h); empty: no such file is made.
    std::vector<std::string> token_parents;
    rendezvous::TlsFiles tls;
    rendezvous::GrpcServer::SetUp set_up =
        rendezvous::GrpcServer::SetUp::kAtOnce;
    std::string run_tag;  // a new run's tag, which names its log folder
    // Returns the path of the event log of the run with `run_tag`, whose folder
    // is created; null: no event log.
    std::function<std::string(const std::string& run_tag)> event_log;
    std::string log_directory;  // as --log-dir names it; `event_log` is below
  };

  // Starts a coordinator, which listens when Start returns. If the journal in
  // `state_dir` holds the job's record, the coordinator continues this job.
  // Must be called after signals have been blocked, because the coordinator has
  // threads.
  //
  // Errors: those of GrpcServer::Listen and Serve. AlreadyExists also: another
  // job of this user is about to listen at that address. Unavailable also: the
  // journal cannot be used, or holds another job, whose record is unchanged.
  static absl::StatusOr<std::unique_ptr<EmbeddedCoordinator>> Start(
      const Options& options, const Voice& voice);

  // The tag of the job's run. A continued job keeps the tag in its record.
  const std::string& run_tag() const { return run_tag_; }
  // The verdict of a continued job that had ended before; nullopt: the job goes
  // on, or is new.
  const std::optional<rendezvous::Verdict>& recorded_verdict() const {
    return recorded_verdict_;
  }
  rendezvous::Coordinator* coordinator() { return &coordinator_; }
  const rendezvous::Endpoint& address() const { return server_->address(); }
  // For the liveness probe: whether the listener answers (GrpcServer::Check).
  absl::Status Check() { return server_->Check(); }

  // Keeps serving until every job is finished and its agents have their
  // verdict, or a signal arrives, or `close_timeout` has passed since every job
  // finished. Then removes the record of a finished job, so that the same
  // command begins a new one.
  void Linger(Duration close_timeout, const Voice& voice);

 private:
  // Opens the journal in `state_dir`. OpenedJournal::kept holds the job if the
  // job is continued, and is empty otherwise.
  static absl::StatusOr<rendezvous::OpenedJournal> OpenState(
      const Options& options, const Voice& voice);

  EmbeddedCoordinator(const Options& options, rendezvous::OpenedJournal state,
                      const Voice& voice);
  // Makes the token's file for `listen`, whose port is known. AlreadyExists: as
  // LocalToken::Keep; other failures are only told.
  static absl::StatusOr<std::unique_ptr<LocalToken>> KeepToken(
      const rendezvous::Endpoint& listen, const Options& options,
      const Voice& voice);
  void WaitForOthers(Duration close_timeout, const Voice& voice);

  const std::string run_tag_;
  const std::optional<rendezvous::Verdict> recorded_verdict_;
  std::unique_ptr<rendezvous::EventLog> event_log_;
  rendezvous::Coordinator coordinator_;
  std::unique_ptr<LocalToken> local_token_;
  std::unique_ptr<rendezvous::GrpcServer> server_;
};

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_EMBEDDED_COORDINATOR_H_
