#ifndef MUSTER_LAUNCHER_EMBEDDED_COORDINATOR_H_
#define MUSTER_LAUNCHER_EMBEDDED_COORDINATOR_H_

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/time.h"
#include "launcher/coordinator_choice.h"
#include "launcher/local_token.h"
#include "launcher/recorded_job.h"
#include "launcher/voice.h"
#include "rendezvous/client/announcer.h"
#include "rendezvous/endpoint/endpoint.h"
#include "rendezvous/events/event_log.h"
#include "rendezvous/events/state_recorder.h"
#include "rendezvous/metrics/job_metrics.h"
#include "rendezvous/protocol/report.h"
#include "rendezvous/quarantine/quarantine_hook.h"
#include "rendezvous/server/coordinator.h"
#include "rendezvous/server/grpc_server.h"
#include "rendezvous/tls/tls_files.h"

namespace muster::launcher {

// The coordinator of one job, which runs inside a `launch` process.
class EmbeddedCoordinator {
 public:
  struct Options {
    rendezvous::Endpoint listen;
    HostedJob job;  // the only job that the coordinator accepts
    // Folder of the journal, which records the job's state (--state-dir);
    // empty: no journal.
    std::string state_dir;
    // Whether machines with many faults are kept out of the job (--quarantine).
    rendezvous::Quarantine quarantine = rendezvous::Quarantine::kOn;
    // Command for each machine that is quarantined (QuarantineHook); empty:
    // none.
    std::string on_quarantine;
    std::string token;
    // The folders in which the coordinator tries, in this order, to create the
    // file with its token for this user's other processes (local_token.h).
    // Empty: the token is not stored in a file.
    std::vector<std::string> token_parents;
    rendezvous::TlsFiles tls;
    rendezvous::GrpcServer::SetUp set_up =
        rendezvous::GrpcServer::SetUp::kAtOnce;
    // The tag of the run, which becomes part of the log folder's name. Not used
    // if the coordinator continues a recorded job: the record has the tag.
    std::string run_tag;
    // Creates the log folder of the run with `run_tag` and returns the path of
    // its event log; null: no event log.
    std::function<std::string(const std::string& run_tag)> event_log;
    // folder of --log-dir, below which the event log lies
    std::string log_directory;
    // Settings for a job in which a coordinator on another node can replace
    // this coordinator. This coordinator starts as a standby, and writes an
    // event log only while it coordinates the job.
    struct Takeover {
      rendezvous::Standby::Kind kind = rendezvous::Standby::Kind::kSuccessor;
      // host name or address at which other nodes reach this process
      std::string own_host;
      // The coordinator's configured endpoints. A node without a coordinator
      // tries these first.
      std::vector<rendezvous::Endpoint> endpoints;
    };
    std::optional<Takeover> takeover;
  };

  // Starts a coordinator, which listens when Start returns. If the journal in
  // `state_dir` holds the job's record, the coordinator continues this job.
  // Must be called after signals have been blocked, because the coordinator has
  // threads.
  //
  // Errors: those of GrpcServer::Listen and Serve, and two more. AlreadyExists:
  // another job of this user is about to listen at Options::listen.
  // Unavailable: the journal cannot be used, or holds the record of another
  // job, which stays unchanged.
  static absl::StatusOr<std::unique_ptr<EmbeddedCoordinator>> Start(
      const Options& options, const Voice& voice);

  // The tag of the job's run. A continued job keeps the tag in its record.
  const std::string& run_tag() const { return run_tag_; }
  // The verdict of a continued job that had already ended; nullopt: the job is
  // running, or is new.
  const std::optional<rendezvous::Verdict>& recorded_verdict() const {
    return recorded_verdict_;
  }
  ~EmbeddedCoordinator() { states_.Finish(); }
  EmbeddedCoordinator(const EmbeddedCoordinator&) = delete;
  EmbeddedCoordinator& operator=(const EmbeddedCoordinator&) = delete;

  rendezvous::Coordinator* coordinator() { return &coordinator_; }
  const rendezvous::Endpoint& address() const { return server_->address(); }
  // The endpoint at which other nodes reach this coordinator. Requires
  // Options::takeover.
  rendezvous::Endpoint own_endpoint() const;
  // The decisions and bytes of the event log that this coordinator has not
  // passed on. Any thread.
  rendezvous::CoordinatorLosses losses() const;
  // For the liveness probe: checks whether the server answers
  // (GrpcServer::Check).
  absl::Status Check() { return server_->Check(); }

  // Continues to serve until one of these events:
  // - No agent is connected any more (Coordinator::WaitUntilDeserted).
  // - A signal arrives.
  // - `close_timeout` has passed since the last job finished.
  //
  // Returns at once if this coordinator may leave its unfinished job
  // (Coordinator::MayLeave), for example because it is only a standby. At the
  // end removes the record of a finished job, so that the same command begins a
  // new job.
  void Linger(Duration close_timeout, const Voice& voice);

 private:
  // Opens the journal in `state_dir`. OpenedJournal::kept has the record of the
  // job if the job is continued, and is empty otherwise.
  static absl::StatusOr<rendezvous::OpenedJournal> OpenState(
      const Options& options, const Voice& voice);

  EmbeddedCoordinator(const Options& options, rendezvous::OpenedJournal state,
                      const Voice& voice);
  // Creates the file with the token of the coordinator at `listen`, whose port
  // is known. AlreadyExists: another process of this user has that file. Other
  // failures are only printed.
  static absl::StatusOr<std::unique_ptr<LocalToken>> KeepToken(
      const rendezvous::Endpoint& listen, const Options& options,
      const Voice& voice);
  // Creates the event log, if the options ask for one and it does not exist
  // yet.
  void MakeEventLog(const std::string& run_tag);
  // Starts the exchange of announcements with the standbys of other nodes, so
  // that nodes that have lost their coordinator meet at one standby.
  void Announce();
  rendezvous::Coordinator::Options CoordinatorOptions(
      rendezvous::OpenedJournal state);
  // Waits until no agent is connected, a signal arrives, or `close_timeout` has
  // passed since the last job finished. Returns at once if this coordinator may
  // leave its job. The result is the time for which the server's streams stay
  // open after this wait.
  Duration WaitForOthers(Duration close_timeout, const Voice& voice);

  const Options options_;
  const Voice voice_;
  const std::string run_tag_;
  const std::optional<rendezvous::Verdict> recorded_verdict_;
  std::unique_ptr<rendezvous::EventLog> event_log_;
  // `event_log_` once it exists, for `losses`
  std::atomic<const rendezvous::EventLog*> shown_event_log_ = nullptr;
  // runs the command Options::on_quarantine for each quarantined machine; null:
  // there is no such command
  std::unique_ptr<rendezvous::QuarantineHook> hook_;
  // `coordinator_` calls OnDecision of `states_`, so `states_` is declared
  // first and destroyed last. The thread of `states_` reads `coordinator_`
  // until `states_.Finish()`, which ~EmbeddedCoordinator calls before any
  // member is destroyed.
  rendezvous::StateRecorder states_;
  rendezvous::Coordinator coordinator_;
  // exchanges announcements with the standbys of other nodes; null without
  // Options::takeover
  std::unique_ptr<rendezvous::Announcer> announcer_;
  std::unique_ptr<LocalToken> local_token_;
  std::unique_ptr<rendezvous::GrpcServer> server_;
};

// Starts the coordinator if `choice` says that this process hosts it. Returns
// null if this process must connect to a coordinator instead.
//
// With kHereIfFree the port may be in use. If a process listens on the port, it
// is taken for the coordinator of another agent on this machine, and the result
// is null. If no process listens, the kernel may have given the port to another
// program's outgoing connection. Start is then retried for a few seconds.
//
// Errors: those of EmbeddedCoordinator::Start. Must be called after signals
// have been blocked.
absl::StatusOr<std::unique_ptr<EmbeddedCoordinator>> HostCoordinator(
    const CoordinatorChoice& choice,
    const EmbeddedCoordinator::Options& hosting, const Voice& voice);

// Starts the standby coordinator of a node that does not host the coordinator.
// Requires CoordinatorChoice::is_taken_over. Must be called after signals have
// been blocked.
//
// The standby listens at the address of `node`. If `node` has no address, the
// standby listens at the address from which this node reaches the coordinator.
// The standby uses the coordinator's port, except in two cases, in which it
// uses any free port:
// - The coordinator's port is in use on this machine.
// - Another process of this machine may still bind that port and become the
//   coordinator.
//
// With TLS, other nodes reach the standby by the node's host name if the
// certificate was issued for this name and not for the address. If the standby
// cannot listen, prints a notice and returns null: the job still runs.
std::unique_ptr<EmbeddedCoordinator> StandBy(
    const CoordinatorChoice& choice, const rendezvous::NodeIdentity& node,
    EmbeddedCoordinator::Options standing_by, const Voice& voice);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_EMBEDDED_COORDINATOR_H_
