#include "launcher/embedded_coordinator.h"

#include <signal.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "base/monotonic_clock.h"
#include "base/net/connect.h"
#include "base/net/resolve.h"
#include "base/net/socket_address.h"
#include "base/owned_fd.h"
#include "base/poll.h"
#include "base/unix_time.h"

namespace muster::launcher {
namespace {

// Interval at which this coordinator checks for signals while it still serves
// other nodes, after this node has finished.
constexpr Duration kLook = std::chrono::milliseconds(100);
// Time after which a notice tells the user that this coordinator still serves
// other nodes. The time begins when this node has finished.
constexpr Duration kQuietLinger = std::chrono::seconds(2);
// Time for which the server's streams stay open after this coordinator has
// stopped waiting for other nodes. In this time `launch watch` receives the end
// of the job.
constexpr Duration kGoodbye = std::chrono::seconds(1);

// Time for which this process, before it exits, waits for running commands of
// --on-quarantine.
constexpr Duration kLastHook = std::chrono::seconds(5);

// Time for which HostCoordinator tries to listen on a port that is in use, and
// the pause between two attempts.
constexpr Duration kPortTimeout = std::chrono::seconds(5);
constexpr Duration kPortPause = std::chrono::milliseconds(100);
// Time limit for resolving the coordinator's name, and for connecting to the
// coordinator's port.
constexpr Duration kReachTimeout = std::chrono::seconds(1);

bool SignalCame() {
  sigset_t blocked;
  pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  const timespec at_once = {};
  return sigtimedwait(&blocked, nullptr, &at_once) > 0;
}

// Returns the hook that runs `command`; null: there is no command.
std::unique_ptr<rendezvous::QuarantineHook> MakeHook(const std::string& command,
                                                     const Voice& voice) {
  if (command.empty()) return nullptr;
  return std::make_unique<rendezvous::QuarantineHook>(
      rendezvous::QuarantineHook::Options{
          .command = command,
          .say = [voice](const std::string& what) { voice.Error(what); }});
}

bool AllFinished(const std::vector<rendezvous::JobStatus>& jobs) {
  return std::all_of(jobs.begin(), jobs.end(),
                     [](const rendezvous::JobStatus& job) {
                       return job.phase == rendezvous::JobPhase::kFinished;
                     });
}

// Returns the local address from which this node connects to the coordinator;
// empty: there is none.
std::string AddressTowards(const rendezvous::Endpoint& coordinator) {
  const auto addresses =
      Resolve(coordinator.host, coordinator.port, {.timeout = kReachTimeout});
  return addresses.ok() ? LocalAddressTowards(addresses->front()) : "";
}

// Whether the address `host` with the port of `coordinator` is reserved for the
// coordinator: another process of this machine may bind this address and become
// the coordinator, now or later. This node's standby then uses another port.
bool IsHostsPort(const rendezvous::Endpoint& coordinator,
                 const std::string& host) {
  const auto addresses =
      Resolve(coordinator.host, coordinator.port, {.timeout = kReachTimeout});
  if (!addresses.ok()) return false;
  const bool is_name = !NumericAddress(coordinator.host, 0).has_value();
  const std::vector<std::string> own = InterfaceAddresses();
  return absl::c_any_of(*addresses, [&](const SocketAddress& address) {
    const std::string ip = address.Ip();
    return (IsLoopback(ip) || absl::c_linear_search(own, ip)) &&
           (is_name || ip == host);
  });
}

bool IsListening(const rendezvous::Endpoint& endpoint) {
  return ConnectTcp(endpoint.host, endpoint.port,
                    MonotonicNow() + kReachTimeout)
      .ok();
}

}  // namespace

absl::StatusOr<rendezvous::OpenedJournal> EmbeddedCoordinator::OpenState(
    const Options& options, const Voice& voice) {
  if (options.state_dir.empty()) return rendezvous::OpenedJournal();
  const auto refuse = [](const absl::Status& why) {
    return absl::UnavailableError(absl::StrCat("--state-dir: ", why.message()));
  };
  absl::StatusOr<rendezvous::OpenedJournal> opened =
      rendezvous::OpenJournal(options.state_dir);
  if (!opened.ok()) return refuse(opened.status());
  absl::StatusOr<RecordedJob> found =
      FindRecordedJob(std::move(opened->kept), options.job, options.state_dir,
                      std::chrono::duration_cast<Duration>(
                          std::chrono::duration<double>(UnixSeconds())));
  if (!found.ok()) return refuse(found.status());
  opened->kept.clear();
  for (const std::string& run_id : found->over) {
    voice.Notice(absl::StrCat("job ", run_id, " of ", options.state_dir,
                              " is over; a new one begins"));
    opened->journal->Remove(run_id);
  }
  if (found->continued) {
    const rendezvous::JobRecord& job = found->continued->job;
    voice.Notice(absl::StrCat(
        "goes on with job ", job.run_id, " of ", options.state_dir, ": round ",
        std::max(job.round, job.claimed_round), ", ", job.restarts_used, " of ",
        job.spec.max_restarts, " restarts used",
        options.takeover.has_value() ? ", unless another node knows more"
                                     : ""));
    opened->kept.push_back(*std::move(found->continued));
  }
  return opened;
}

EmbeddedCoordinator::EmbeddedCoordinator(const Options& options,
                                         rendezvous::OpenedJournal state,
                                         const Voice& voice)
    : options_(options),
      voice_(voice),
      run_tag_(state.kept.empty() ? options.run_tag
                                  : state.kept[0].job.run_tag),
      recorded_verdict_(state.kept.empty() ? std::nullopt
                                           : state.kept[0].job.verdict),
      hook_(MakeHook(options.on_quarantine, voice)),
      coordinator_(CoordinatorOptions(std::move(state))) {}

rendezvous::Coordinator::Options EmbeddedCoordinator::CoordinatorOptions(
    rendezvous::OpenedJournal state) {
  if (!options_.takeover.has_value()) MakeEventLog(run_tag_);
  rendezvous::Coordinator::Options options{
      .only_run_id = options_.job.run_id,
      .run_tag = run_tag_,
      .journal = std::move(state.journal),
      .kept = std::move(state.kept),
      .remembered = std::move(state.remembered),
      .quarantine = options_.quarantine,
      .on_quarantine =
          [this](const rendezvous::HostWatch::Notice& notice) {
            if (hook_ == nullptr) return;
            hook_->Run(notice.key, notice.judgement, notice.run_id);
          },
      .on_decision =
          [this](const std::string& run_id,
                 const rendezvous::Decision& decision) {
            if (event_log_ == nullptr) return;
            event_log_->Append(run_id, decision);
            states_.OnDecision(run_id, decision);
          },
      .takeover = std::nullopt};
  if (!options_.takeover.has_value()) return options;
  using Start = rendezvous::Coordinator::Options::Takeover::Start;
  options.takeover = {
      .kind = options_.takeover->kind,
      .own_endpoint = "",
      .on_start = [this](Start start, const std::string& run_tag) {
        MakeEventLog(run_tag);
        if (event_log_ != nullptr) event_log_->Create();
        if (start == Start::kNewJob) return;
        voice_.Notice("this node coordinates the job now");
      }};
  return options;
}

void EmbeddedCoordinator::MakeEventLog(const std::string& run_tag) {
  if (options_.event_log == nullptr || event_log_ != nullptr) return;
  event_log_ = std::make_unique<rendezvous::EventLog>(
      options_.event_log(run_tag), rendezvous::EventLog::Rotation::kOwn,
      [voice = voice_](const std::string& sentence) { voice.Error(sentence); },
      options_.log_directory);
  shown_event_log_ = event_log_.get();
}

rendezvous::CoordinatorLosses EmbeddedCoordinator::losses() const {
  rendezvous::CoordinatorLosses losses = {.missed_decisions =
                                              coordinator_.missed_decisions()};
  if (const rendezvous::EventLog* const log = shown_event_log_) {
    losses.omitted_events = log->omitted();
    losses.event_log_bytes = log->lost_bytes();
  }
  return losses;
}

void EmbeddedCoordinator::Announce() {
  announcer_ = std::make_unique<rendezvous::Announcer>(
      &coordinator_,
      rendezvous::Announcer::Options{.endpoints = options_.takeover->endpoints,
                                     .tls = options_.tls,
                                     .token = options_.token});
}

rendezvous::Endpoint EmbeddedCoordinator::own_endpoint() const {
  return {options_.takeover->own_host, address().port};
}

absl::StatusOr<std::unique_ptr<EmbeddedCoordinator>> EmbeddedCoordinator::Start(
    const Options& options, const Voice& voice) {
  std::unique_ptr<LocalToken> local_token;
  const bool port_is_known = options.listen.port != 0;
  if (port_is_known) {
    auto kept = KeepToken(options.listen, options, voice);
    if (!kept.ok()) return kept.status();
    local_token = *std::move(kept);
  }
  rendezvous::GrpcServer::Options serving;
  serving.listen = options.listen;
  if (!options.token.empty()) serving.tokens = {options.token};
  serving.tls = options.tls;
  serving.set_up = options.set_up;
  // Bind the port before opening the journal. Several `launch` processes on
  // this machine may have the same --state-dir, and only the one that owns the
  // port may use the journal in this folder.
  absl::StatusOr<std::unique_ptr<rendezvous::GrpcServer>> server =
      rendezvous::GrpcServer::Listen(serving);
  if (!server.ok()) return server.status();
  absl::StatusOr<rendezvous::OpenedJournal> state = OpenState(options, voice);
  if (!state.ok()) return state.status();
  std::unique_ptr<EmbeddedCoordinator> here(
      new EmbeddedCoordinator(options, *std::move(state), voice));
  here->local_token_ = std::move(local_token);
  here->server_ = *std::move(server);
  if (options.takeover.has_value()) {
    here->coordinator_.SetOwnEndpoint(here->own_endpoint().ToString());
  }
  const absl::Status served = here->server_->Serve(&here->coordinator_);
  if (!served.ok()) return served;
  // A standby announces the nodes that have connected to it, so that all nodes
  // without a coordinator meet at one standby.
  if (options.takeover.has_value()) here->Announce();
  if (options.event_log != nullptr) {
    EmbeddedCoordinator* const self = here.get();
    here->states_.Begin(
        [self](const std::string& run_id) {
          absl::StatusOr<rendezvous::JobStatus> job =
              self->coordinator_.GetJob(run_id);
          // This status is written to the event log. The coordinator's
          // JobStatus lacks the job's command, so add the command that the user
          // of this process gave. This user also owns the event log, so the
          // command is not revealed to others.
          if (job.ok()) job->spec.command = self->options_.job.spec.command;
          return job;
        },
        [self](const rendezvous::JobStatus& job,
               rendezvous::StateDetail detail) {
          self->event_log_->AppendState(job, detail);
        });
  }
  if (!port_is_known) {
    auto kept = KeepToken(here->address(), options, voice);
    if (!kept.ok()) return kept.status();
    here->local_token_ = *std::move(kept);
  }
  if (here->event_log_ != nullptr) here->event_log_->Create();
  return here;
}

absl::StatusOr<std::unique_ptr<LocalToken>> EmbeddedCoordinator::KeepToken(
    const rendezvous::Endpoint& listen, const Options& options,
    const Voice& voice) {
  if (options.token_parents.empty()) return nullptr;
  absl::StatusOr<std::unique_ptr<LocalToken>> kept =
      LocalToken::Keep(listen, options.token, options.token_parents);
  if (kept.ok()) return kept;
  if (absl::IsAlreadyExists(kept.status())) {
    return absl::AlreadyExistsError(absl::StrCat(
        "cannot listen on ", listen.ToString(), ": ", kept.status().message()));
  }
  voice.Notice(absl::StrCat(
      "launch status, watch, logs, stacks, cancel and drain cannot reach this "
      "job, because "
      "its token cannot be kept: ",
      kept.status().message(),
      "; give a token by MUSTER_TOKEN or --token-file"));
  return nullptr;
}

void EmbeddedCoordinator::Linger(Duration close_timeout, const Voice& voice) {
  server_->Shutdown(WaitForOthers(close_timeout, voice));
  states_.Finish();
  coordinator_.ForgetFinishedJobs();
  // The end of the job may have quarantined a machine and started a command of
  // --on-quarantine. Wait for this command.
  if (hook_ != nullptr) hook_->Finish(kLastHook);
}

Duration EmbeddedCoordinator::WaitForOthers(Duration close_timeout,
                                            const Voice& voice) {
  Duration waited = Duration::zero();
  Duration finished_for = Duration::zero();
  while (true) {
    // If this coordinator may leave (Coordinator::MayLeave), do not wait for
    // other nodes: the sooner the nodes lose their connection to it, the sooner
    // another coordinator takes over.
    if (coordinator_.MayLeave()) return Duration::zero();
    if (coordinator_.WaitUntilDeserted(kLook) || SignalCame()) return kGoodbye;
    waited += kLook;
    if (waited == kQuietLinger) {
      voice.Notice(
          "this node is done; it hosts the coordinator until the others are");
    }
    finished_for = AllFinished(coordinator_.ListJobs()) ? finished_for + kLook
                                                        : Duration::zero();
    if (finished_for >= close_timeout) {
      voice.Error(absl::StrCat("some nodes did not take the verdict within ",
                               ToSeconds(close_timeout),
                               " s (close_timeout of --rdzv-conf)"));
      return kGoodbye;
    }
  }
}

absl::StatusOr<std::unique_ptr<EmbeddedCoordinator>> HostCoordinator(
    const CoordinatorChoice& choice,
    const EmbeddedCoordinator::Options& hosting, const Voice& voice) {
  if (choice.place == CoordinatorPlace::kElsewhere) return nullptr;
  const Instant deadline = MonotonicNow() + kPortTimeout;
  for (bool is_first = true;; is_first = false) {
    auto here = EmbeddedCoordinator::Start(hosting, voice);
    if (choice.place != CoordinatorPlace::kHereIfFree ||
        !absl::IsAlreadyExists(here.status())) {
      return here;
    }
    if (IsListening(choice.endpoints.front())) return nullptr;
    if (MonotonicNow() >= deadline) return here;
    if (is_first) {
      voice.Notice(absl::StrCat("port ", choice.endpoints.front().port,
                                " is taken, but no program listens there; "
                                "trying again for ",
                                ToSeconds(kPortTimeout), " s"));
    }
    PauseUntil(MonotonicNow() + kPortPause);
  }
}

std::unique_ptr<EmbeddedCoordinator> StandBy(
    const CoordinatorChoice& choice, const rendezvous::NodeIdentity& node,
    EmbeddedCoordinator::Options standing_by, const Voice& voice) {
  const rendezvous::Endpoint& endpoint = choice.endpoints.front();
  std::string host =
      node.address.empty() ? AddressTowards(endpoint) : node.address;
  if (host.empty()) {
    voice.Notice(absl::StrCat(
        "this node does not take over from the coordinator: no address of this "
        "machine reaches ",
        endpoint.ToString(), "; give --local-addr"));
    return nullptr;
  }
  if (standing_by.tls.given()) {
    host = rendezvous::HostInCertificate(standing_by.tls, {host, node.host});
  }
  standing_by.takeover->own_host = host;
  // Set up the gRPC server only when a node connects, because a standby may
  // never get a connection.
  standing_by.set_up = rendezvous::GrpcServer::SetUp::kWithFirstConnection;
  // Bind every interface if `host` is a name: the name may resolve to different
  // addresses on this machine and on the peers.
  const bool is_address = NumericAddress(host, 0).has_value();
  standing_by.listen = {is_address ? host : "::",
                        IsHostsPort(endpoint, host) ? 0 : endpoint.port};
  auto here = EmbeddedCoordinator::Start(standing_by, voice);
  if (!here.ok()) {
    standing_by.listen.port = 0;
    here = EmbeddedCoordinator::Start(standing_by, voice);
  }
  if (here.ok()) return *std::move(here);
  voice.Notice(
      absl::StrCat("this node does not take over from the coordinator: ",
                   here.status().message()));
  return nullptr;
}

}  // namespace muster::launcher
