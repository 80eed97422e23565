// Muster's coordinator as a daemon. See --help.

#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/ignored_signals.h"
#include "base/message_text.h"
#include "base/monotonic_clock.h"
#include "base/owned_fd.h"
#include "base/poll.h"
#include "base/resource_room.h"
#include "base/secrets.h"
#include "base/standard_descriptors.h"
#include "rendezvous/daemon/daemon_options.h"
#include "rendezvous/dashboard/dashboard.h"
#include "rendezvous/dashboard/dashboard_access.h"
#include "rendezvous/etcd/etcd_access.h"
#include "rendezvous/etcd/etcd_client.h"
#include "rendezvous/etcd/etcd_records.h"
#include "rendezvous/etcd/leader_election.h"
#include "rendezvous/events/event_log.h"
#include "rendezvous/events/state_recorder.h"
#include "rendezvous/journal/journal.h"
#include "rendezvous/metrics/exposition.h"
#include "rendezvous/metrics/job_metrics.h"
#include "rendezvous/probes/metrics_file.h"
#include "rendezvous/probes/probe_server.h"
#include "rendezvous/quarantine/quarantine_hook.h"
#include "rendezvous/server/coordinator.h"
#include "rendezvous/server/grpc_server.h"
#include "rendezvous/tls/tls_files.h"
#include "rendezvous/token/token.h"

namespace muster::rendezvous {
namespace {

constexpr int kBadUsage = 2;
// Limits of a coordinator that has neither a token nor TLS, and so accepts jobs
// from every host: the number of unfinished jobs of one IP address, and the
// time for which a job may wait for nodes.
constexpr int kMaxJobsPerPeer = 1000;
constexpr Duration kMaxJoinTimeout = std::chrono::hours(24);
// How long operators' calls in progress may continue at shutdown.
constexpr Duration kShutdownGrace = std::chrono::milliseconds(100);

void Say(const std::string& sentence) {
  std::fprintf(stderr, "rendezvousd: %s\n", sentence.c_str());
}

int Fail(const absl::Status& status, int code) {
  Say(std::string(status.message()));
  return code;
}

// This host's name, for messages.
std::string HostName() {
  char name[HOST_NAME_MAX + 1] = {};
  gethostname(name, sizeof(name) - 1);
  return name;
}

// The exit code of the daemon for an error of ServeJobs.
int CodeOf(const absl::Status& error) {
  return absl::IsInvalidArgument(error) ? kBadUsage : 1;
}

// Writes the port to a temporary file and renames it, so that a program that
// waits for the file never reads half a port number.
absl::Status WritePortFile(const std::string& path, int port) {
  const std::string fresh = path + ".new";
  std::FILE* file = std::fopen(fresh.c_str(), "we");
  const bool written = file != nullptr && std::fprintf(file, "%d\n", port) > 0;
  if (file != nullptr && std::fclose(file) == 0 && written &&
      std::rename(fresh.c_str(), path.c_str()) == 0) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "cannot write the port file ", path, ": ", std::strerror(errno)));
}

// The daemon's state, as the HTTP probes report it. Thread-safe.
class Health {
 public:
  // From now on the HTTP probes report the health of `coordinator` and
  // `server`, which must live until Leave is called.
  void Serve(Coordinator* coordinator, GrpcServer* server) {
    const std::lock_guard<std::mutex> lock(mutex_);
    coordinator_ = coordinator;
    server_ = server;
  }
  // Reports the daemon as not ready from now on. `why`: the reason, which the
  // probe's answer contains.
  void Leave(const std::string& why) {
    const std::lock_guard<std::mutex> lock(mutex_);
    coordinator_ = nullptr;
    server_ = nullptr;
    why_ = why;
  }

  // The answer to the liveness probe: OK if the daemon serves no jobs, or if
  // its coordinator answers and its gRPC server accepts connections. After a
  // deadlock in the coordinator this call blocks, so the probe times out.
  absl::Status Live() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (coordinator_ == nullptr) return absl::OkStatus();
    coordinator_->ListJobs();
    return server_->Check();
  }
  // The answer to the readiness probe: OK while this daemon serves agents;
  // otherwise Unavailable with the reason.
  absl::Status Ready() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return coordinator_ == nullptr ? absl::UnavailableError(why_)
                                   : absl::OkStatus();
  }

  // Returns the jobs for the dashboard. If this daemon serves no jobs, returns
  // the reason instead.
  CoordinatedJobs Jobs() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (coordinator_ == nullptr) {
      return {.jobs = {},
              .elsewhere = absl::StrCat("This daemon serves no jobs: ", why_)};
    }
    return {.jobs = JobsWithNodes(*coordinator_), .elsewhere = ""};
  }

  // The functions of DashboardInquirer, forwarded to the current coordinator.
  absl::Status Inquire(const std::string& run_id,
                       const std::shared_ptr<InquirySession>& session) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (coordinator_ == nullptr) return absl::UnavailableError(why_);
    return coordinator_->Inquire(run_id, /*node=*/"", session);
  }
  void EndInquiry(const std::string& run_id,
                  const std::shared_ptr<InquirySession>& session) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (coordinator_ != nullptr) coordinator_->EndInquiry(run_id, session);
  }

  // Returns the text of /metrics. While this daemon does not lead, the text
  // contains no metrics of jobs.
  // `log`: the daemon's event log; null: none.
  std::string Metrics(const EventLog* log) {
    std::optional<std::vector<JobStatus>> jobs;
    CoordinatorLosses losses;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (coordinator_ != nullptr) {
        jobs = JobsWithNodes(*coordinator_);
        losses.missed_decisions = coordinator_->missed_decisions();
      }
    }
    if (log != nullptr) {
      losses.omitted_events = log->omitted();
      losses.event_log_bytes = log->lost_bytes();
    }
    Exposition page;
    AddBuildInfo(page);
    page.Family("muster_coordinator_leads", Exposition::Type::kGauge,
                "1 while this process coordinates jobs, else 0.");
    page.Sample({}, jobs.has_value() ? 1 : 0);
    AddCoordinatorLosses(losses, page);
    if (jobs.has_value()) AddJobMetrics(*jobs, page);
    return page.text();
  }

 private:
  std::mutex mutex_;
  Coordinator* coordinator_ = nullptr;
  GrpcServer* server_ = nullptr;
  std::string why_ = "the daemon is starting";
};

// Returns the dashboard of the daemon; null if the command line requests none.
// `tokens`: the daemon's job tokens. InvalidArgument: the dashboard may not
// listen at the requested address.
absl::StatusOr<std::shared_ptr<Dashboard>> MakeDashboard(
    const DaemonOptions& options, const std::vector<std::string>& tokens,
    Health* health) {
  const auto& listen = options.dashboard_listen;
  if (!listen) return nullptr;
  const absl::Status may =
      CheckDashboard(*listen, tokens,
                     options.tls.given() ? CallerCertificates::kRequired
                                         : CallerCertificates::kNotRequired);
  if (!may.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--dashboard-listen: ", may.message()));
  }
  return std::make_shared<Dashboard>(
      [health] { return health->Jobs(); },
      DashboardInquirer{
          .inquire =
              [health](const std::string& run_id,
                       const std::shared_ptr<InquirySession>& session) {
                return health->Inquire(run_id, session);
              },
          .end =
              [health](const std::string& run_id,
                       const std::shared_ptr<InquirySession>& session) {
                health->EndInquiry(run_id, session);
              }},
      DashboardAccess{.tokens = tokens,
                      .host_names = {listen->host, HostName()},
                      .output = OutputShownAt(*listen)},
      Dashboard::Clock{.now = MonotonicNow,
                       .unix_time = [] { return std::time({}); }});
}

// The signals that this process handles. SIGHUP reopens the event log.
class Signals {
 public:
  // Blocks the signals. Must be called before the first thread starts, so that
  // all threads inherit the mask.
  Signals() {
    sigset_t signals;
    sigemptyset(&signals);
    for (int one : WithoutIgnored({SIGTERM, SIGINT})) sigaddset(&signals, one);
    // Handle SIGHUP even if nohup has set it to be ignored, because SIGHUP only
    // reopens the log here.
    sigaddset(&signals, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    signal(SIGPIPE, SIG_IGN);
    fd_ = OwnedFd(signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  }

  // Blocks until SIGTERM or SIGINT arrives, and returns the signal's number.
  // Returns 0 if `other_fd` becomes readable first. `other_fd` -1: none. SIGHUP
  // reopens `log`.
  int Wait(EventLog* log, int other_fd) {
    while (true) {
      pollfd files[] = {{.fd = fd_.get(), .events = POLLIN, .revents = 0},
                        {.fd = other_fd, .events = POLLIN, .revents = 0}};
      PollUntil(files, kNoDeadline);
      signalfd_siginfo info;
      while (read(fd_.get(), &info, sizeof(info)) == sizeof(info)) {
        if (info.ssi_signo != SIGHUP) return static_cast<int>(info.ssi_signo);
        if (log == nullptr) continue;
        const absl::Status reopened = log->Reopen();
        if (!reopened.ok()) Say(std::string(reopened.message()));
      }
      if (files[1].revents != 0) return 0;
    }
  }

 private:
  OwnedFd fd_;
};

// The state that the daemon keeps both as the leader and as a standby.
struct Daemon {
  const DaemonOptions& options;
  std::vector<std::string> tokens;
  Signals signals;
  std::unique_ptr<EventLog> log;
  // Runs the command of --on-quarantine; null: no such command.
  std::unique_ptr<QuarantineHook> hook;
  Health health;
  std::vector<std::unique_ptr<ProbeServer>> pages;
};

// Serves jobs with the journal `state`, until a signal arrives or this daemon
// loses the leadership. Returns the signal's number; 0: the leadership is lost.
// `election`: the election that this daemon has won; null if there is no other
// daemon.
absl::StatusOr<int> ServeJobs(Daemon& daemon, OpenedJournal state,
                              LeaderElection* election) {
  const DaemonOptions& options = daemon.options;
  Coordinator::Options coordinating;
  coordinating.journal = std::move(state.journal);
  coordinating.kept = std::move(state.kept);
  coordinating.remembered = std::move(state.remembered);
  if (election != nullptr) {
    coordinating.leads = [election] { return election->Leads(); };
  }
  coordinating.keep_finished = options.keep_finished;
  if (daemon.tokens.empty() && !options.tls.given()) {
    coordinating.max_jobs_per_peer = kMaxJobsPerPeer;
    coordinating.max_join_timeout = kMaxJoinTimeout;
  }
  coordinating.max_jobs_per_principal = options.max_jobs_per_principal;
  coordinating.quarantine = options.quarantine;
  if (daemon.hook != nullptr) {
    coordinating.on_quarantine =
        [hook = daemon.hook.get()](const HostWatch::Notice& notice) {
          hook->Run(notice.key, notice.judgement, notice.run_id);
        };
  }
  StateRecorder states;
  EventLog* const log = daemon.log.get();
  if (log != nullptr) {
    coordinating.on_decision = [log, &states](const std::string& run_id,
                                              const Decision& decision) {
      log->Append(run_id, decision);
      if (!run_id.empty()) states.OnDecision(run_id, decision);
    };
  }
  Coordinator coordinator(std::move(coordinating));
  // Ends the thread of the StateRecorder `states` before the coordinator is
  // destroyed, because this thread reads from the coordinator.
  struct Finisher {
    StateRecorder* states;
    ~Finisher() { states->Finish(); }
  } finisher{&states};
  if (log != nullptr) {
    states.Begin(
        [&coordinator](const std::string& run_id) {
          return coordinator.GetJob(run_id);
        },
        [log](const JobStatus& job, StateDetail detail) {
          log->AppendState(job, detail);
        });
  }
  GrpcServer::Options serving;
  serving.listen = options.listen;
  serving.tls = options.tls;
  serving.max_nodes_per_principal = options.max_nodes_per_principal;
  serving.tokens = daemon.tokens;
  auto server = GrpcServer::Start(&coordinator, serving);
  // The server could not bind its address. Return Unavailable even if the
  // status is InvalidArgument, for which the daemon would exit with code 2, the
  // code for a wrong command line.
  if (!server.ok()) {
    return absl::UnavailableError(server.status().message());
  }
  if (!options.port_file.empty()) {
    const absl::Status written =
        WritePortFile(options.port_file, (*server)->address().port);
    if (!written.ok()) return written;
  }
  daemon.health.Serve(&coordinator, server->get());
  std::printf("rendezvousd: listening on %s, room for %d nodes%s%s\n",
              (*server)->address().ToString().c_str(), (*server)->max_nodes(),
              serving.tls.given() || !serving.tokens.empty() ? ", mutual TLS"
                                                             : ", open to all",
              serving.tokens.empty() ? "" : ", job token asked for");
  std::fflush(stdout);
  const int signal = daemon.signals.Wait(
      daemon.log.get(), election != nullptr ? election->changed_fd() : -1);
  daemon.health.Leave(signal == 0 ? "another daemon may lead"
                                  : "the daemon is ending");
  if (signal != 0) {
    Say(absl::StrCat("ending on ", signal == SIGINT ? "SIGINT" : "SIGTERM"));
  }
  (*server)->Shutdown(signal == 0 ? Duration::zero() : kShutdownGrace);
  return signal;
}

void SayContinued(const OpenedJournal& state, const std::string& place) {
  if (state.kept.empty()) return;
  Say(absl::StrCat("goes on with ", Counted(state.kept.size(), "job"), " of ",
                   place));
}

// Runs a daemon that shares its jobs with no other daemon. Returns the exit
// code.
int ServeAlone(Daemon& daemon) {
  OpenedJournal state;
  if (!daemon.options.state_dir.empty()) {
    auto opened = OpenJournal(daemon.options.state_dir);
    if (!opened.ok()) return Fail(opened.status(), 1);
    SayContinued(*opened, daemon.options.state_dir);
    state = *std::move(opened);
  }
  const absl::StatusOr<int> signal =
      ServeJobs(daemon, std::move(state), /*election=*/nullptr);
  return signal.ok() ? 0 : Fail(signal.status(), CodeOf(signal.status()));
}

// Reads the jobs from etcd. `term`: the period in which this daemon leads.
absl::StatusOr<OpenedJournal> OpenSharedJournal(EtcdClient* etcd,
                                                const EtcdTerm& term) {
  Journal::Limits limits;
  limits.on_trouble = PendingRecords::OnTrouble::kHold;
  // The time after which a write counts as hung. It is longer than the deadline
  // of each call to etcd, after which the call returns an error. So no write to
  // etcd ever counts as hung.
  limits.hung_after = std::chrono::seconds(10);
  limits.retry_after = std::chrono::milliseconds(100);
  limits.close_within = std::chrono::seconds(1);
  absl::StatusOr<std::unique_ptr<Journal>> journal = Journal::OpenOn(
      etcd->access().ToString(),
      [etcd, term]() -> absl::StatusOr<std::unique_ptr<JournalBackend>> {
        return EtcdRecords::Open(etcd, term);
      },
      limits);
  if (!journal.ok()) return journal.status();
  OpenedJournal jobs = ReadJobs(*std::move(journal));
  // Skip damaged records instead of exiting. Otherwise one damaged record would
  // stop every daemon that is elected, and so end all jobs.
  for (const std::string& why : jobs.damaged) {
    Say(absl::StrCat(why,
                     "; the daemon goes on without it, and that job from "
                     "the reports of its nodes; to forget it, remove its key "
                     "below ",
                     etcd->access().prefix, "jobs/ (etcdctl del)"));
  }
  return jobs;
}

// Waits until this daemon is elected or the election has failed. Returns 0, or
// the number of the signal that ends the daemon.
int StandBy(Daemon& daemon, LeaderElection& election,
            const std::string& place) {
  std::string told;
  while (election.stage() == LeaderElection::Stage::kStandby) {
    if (const std::string leader = election.leader(); leader != told) {
      told = leader;
      daemon.health.Leave(leader.empty()
                              ? absl::StrCat("stands by in ", place)
                              : absl::StrCat("stands by; ", leader, " leads"));
      if (!leader.empty()) {
        Say(absl::StrCat("stands by in ", place, "; ", leader, " leads"));
      }
    }
    const int ended =
        daemon.signals.Wait(daemon.log.get(), election.changed_fd());
    if (ended != 0) return ended;
    election.Drain();
  }
  return 0;
}

// Runs one of several daemons that share their state in etcd: it stands by,
// leads, and stands by again if it lost the leadership. Returns the exit code.
int ServeInTurn(Daemon& daemon) {
  for (bool is_first = true;; is_first = false) {
    EtcdAccess access = *daemon.options.etcd;
    if (!daemon.options.etcd_user_file.empty()) {
      // Read etcd's user and password before each election, because the
      // password may change while the daemon runs.
      const absl::Status read =
          ReadEtcdUser(daemon.options.etcd_user_file, access);
      if (!read.ok()) return Fail(read, kBadUsage);
      const std::string warning = ClearTextPassword(access);
      if (is_first && !warning.empty()) Say(warning);
    }
    EtcdClient etcd(std::move(access));
    const std::string place = etcd.access().ToString();
    if (is_first) {
      // Check the election's settings only at the start, because they do not
      // change later.
      const absl::Status usable = LeaderElection::Check(&etcd);
      if (!usable.ok()) return Fail(usable, 1);
    }
    auto election = LeaderElection::Begin(
        &etcd, {.self = absl::StrCat(HostName(), ", process ", getpid()),
                .limits = {},
                .say = Say});
    if (!election.ok()) return Fail(election.status(), 1);
    daemon.health.Leave(absl::StrCat("stands by in ", place));
    const int ended = StandBy(daemon, **election, place);
    if (ended != 0) return 0;
    if ((*election)->stage() != LeaderElection::Stage::kLeading) continue;
    auto state = OpenSharedJournal(&etcd, (*election)->term());
    if (absl::IsUnavailable(state.status()) ||
        absl::IsDeadlineExceeded(state.status())) {
      Say(absl::StrCat(std::string(state.status().message()),
                       "; standing by again"));
      continue;
    }
    if (!state.ok()) return Fail(state.status(), 1);
    Say(absl::StrCat("leads in ", place));
    SayContinued(*state, place);
    const absl::StatusOr<int> signal =
        ServeJobs(daemon, *std::move(state), election->get());
    if (!signal.ok()) return Fail(signal.status(), CodeOf(signal.status()));
    if (*signal != 0) return 0;
    Say(absl::StrCat("no longer leads: it could not renew its lease in ", place,
                     " in time"));
  }
}

// Threads and descriptors that a daemon without nodes needs, with a reserve:
// measurements showed 11 threads (12 with an event log) and 12 descriptors.
constexpr ResourceNeed kNeed = {.threads = 14, .descriptors = 18};

int Serve(const DaemonOptions& options) {
  const absl::Status room = CheckRoom(kNeed);
  if (!room.ok()) return Fail(room, 1);
  Daemon daemon{.options = options};
  absl::StatusOr<std::vector<std::string>> tokens =
      ReadTokens(options.token_file, Say);
  if (!tokens.ok()) return Fail(tokens.status(), kBadUsage);
  daemon.tokens = *std::move(tokens);
  const absl::Status tls = CheckTlsFiles(options.tls, std::time(nullptr), Say);
  if (!tls.ok()) return Fail(tls, kBadUsage);
  if (!options.event_log.empty()) {
    daemon.log = std::make_unique<EventLog>(options.event_log,
                                            EventLog::Rotation::kOutside, Say);
    const absl::Status opened = daemon.log->Reopen();
    if (!opened.ok()) return Fail(opened, kBadUsage);
  }
  if (!options.on_quarantine.empty()) {
    daemon.hook = std::make_unique<QuarantineHook>(
        QuarantineHook::Options{.command = options.on_quarantine, .say = Say});
  }
  Health* const health = &daemon.health;
  auto dashboard = MakeDashboard(options, daemon.tokens, health);
  if (!dashboard.ok()) {
    return Fail(dashboard.status(), CodeOf(dashboard.status()));
  }
  Probes probes = {.live = [health] { return health->Live(); },
                   .started = [] { return absl::OkStatus(); },
                   .ready = [health] { return health->Ready(); },
                   .metrics = nullptr,
                   .pages = nullptr,
                   .tick = nullptr};
  AddDashboard(*dashboard, probes);
  const auto metrics = [health, log = daemon.log.get()] {
    return health->Metrics(log);
  };
  auto pages = ServePages({.probes = options.probe_listen,
                           .metrics = options.metrics_listen,
                           .dashboard = options.dashboard_listen},
                          probes, metrics, [](const std::string& sentence) {
                            std::printf("rendezvousd: %s\n", sentence.c_str());
                            std::fflush(stdout);
                          });
  if (!pages.ok()) return Fail(pages.status(), 1);
  daemon.pages = *std::move(pages);
  std::optional<MetricsFile> file;
  if (!options.metrics_textfile.empty()) {
    file.emplace(options.metrics_textfile, metrics, Say);
  }
  return options.etcd ? ServeInTurn(daemon) : ServeAlone(daemon);
}

}  // namespace
}  // namespace muster::rendezvous

int main(int argc, char** argv) {
  muster::rendezvous::TakeTokenVariable();
  muster::HideFromOtherProcesses();
  muster::IgnoreFileSizeSignal();
  muster::OpenStandardDescriptors();
  muster::ReduceThreadMemory();
  muster::InstallOutOfResourceHandler("rendezvousd");
  const auto options = muster::rendezvous::ParseDaemonOptions(argc, argv);
  if (!options.ok()) {
    return muster::rendezvous::Fail(options.status(),
                                    muster::rendezvous::kBadUsage);
  }
  if (options->request == muster::rendezvous::DaemonOptions::Request::kShow) {
    std::fputs(options->text.c_str(), stdout);
    return 0;
  }
  return muster::rendezvous::Serve(*options);
}
