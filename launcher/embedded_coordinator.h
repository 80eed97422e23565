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
#include "rendezvous/client/announcer.h"
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
    // Set if another coordinator takes over the job once its coordinator is
    // lost. Then this one begins as a standby, and has an event log once it
    // coordinates the job.
    struct Takeover {
      rendezvous::Standby::Kind kind = rendezvous::Standby::Kind::kSuccessor;
      std::string own_host;  // at which others reach this process
      // The endpoints at which nodes look for the job first.
      std::vector<rendezvous::Endpoint> endpoints;
    };
    std::optional<Takeover> takeover;
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
  // Options::takeover: where others reach this coordinator.
  rendezvous::Endpoint own_endpoint() const;
  // For the liveness probe: whether the listener answers (GrpcServer::Check).
  absl::Status Check() { return server_->Check(); }

  // Keeps serving until every job is finished and its agents have their
  // verdict, or a signal arrives, or `close_timeout` has passed since every job
  // finished. Returns at once if this coordinator only stands by, or if another
  // one can take over the unfinished job. Then removes the record of a finished
  // job, so that the same command begins a new one.
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
  // Makes the event log, if the options ask for one and there is none.
  void MakeEventLog(const std::string& run_tag);
  // Begins to announce this coordinator to others.
  void Announce();
  rendezvous::Coordinator::Options CoordinatorOptions(
      rendezvous::OpenedJournal state);
  // Returns the time for which open streams may end by themselves.
  Duration WaitForOthers(Duration close_timeout, const Voice& voice);

  const Options options_;
  const Voice voice_;
  const std::string run_tag_;
  const std::optional<rendezvous::Verdict> recorded_verdict_;
  std::unique_ptr<rendezvous::EventLog> event_log_;
  rendezvous::Coordinator coordinator_;
  // Null until this coordinator coordinates. Destroyed after `server_`,
  // whose streams let it take over.
  std::unique_ptr<rendezvous::Announcer> announcer_;
  std::unique_ptr<LocalToken> local_token_;
  std::unique_ptr<rendezvous::GrpcServer> server_;
};

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_EMBEDDED_COORDINATOR_H_
