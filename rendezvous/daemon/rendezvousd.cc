// Muster's coordinator as a daemon. See --help.

#include <signal.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/counted.h"
#include "base/file_size_signal.h"
#include "base/ignored_signals.h"
#include "base/process_secrets.h"
#include "base/resource_room.h"
#include "base/standard_descriptors.h"
#include "rendezvous/daemon/daemon_options.h"
#include "rendezvous/events/event_log.h"
#include "rendezvous/probes/probe_server.h"
#include "rendezvous/server/coordinator.h"
#include "rendezvous/server/grpc_server.h"
#include "rendezvous/tls/tls_files.h"
#include "rendezvous/token/token.h"

namespace muster::rendezvous {
namespace {

constexpr int kBadUsage = 2;
// Limits of a coordinator without token and TLS, which takes jobs from every
// host: unfinished jobs of one address, and the time that a job may wait for
// nodes.
constexpr int kMaxJobsPerPeer = 1000;
constexpr Duration kMaxJoinTimeout = std::chrono::hours(24);
// Time that operators' calls in progress have to end at shutdown.
constexpr Duration kShutdownGrace = std::chrono::milliseconds(100);

void Say(const std::string& sentence) {
  std::fprintf(stderr, "rendezvousd: %s\n", sentence.c_str());
}

int Fail(const absl::Status& status, int code) {
  Say(std::string(status.message()));
  return code;
}

// Writes the file atomically, so that a program that waits for it never reads
// half a port.
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

// Starts the probes' server; null if none was asked for. Live: the coordinator
// answers, so a lock that is never released is found, and its listener takes
// connections. Ready: it accepts agents.
absl::StatusOr<std::unique_ptr<ProbeServer>> ServeProbes(
    const DaemonOptions& options, Coordinator* coordinator, GrpcServer* server,
    const std::atomic<bool>* ending) {
  if (!options.probe_listen) return nullptr;
  Probes probes;
  probes.live = [coordinator, server, ending] {
    coordinator->ListJobs();
    return *ending ? absl::OkStatus() : server->Check();
  };
  probes.started = [] { return absl::OkStatus(); };
  probes.ready = [ending] {
    return *ending ? absl::UnavailableError("the daemon is ending")
                   : absl::OkStatus();
  };
  return ProbeServer::Start(*options.probe_listen, std::move(probes));
}

// Blocks until SIGTERM or SIGINT and returns the signal; SIGHUP reopens the
// log.
int WaitForEnd(const sigset_t& signals, EventLog* log) {
  while (true) {
    int signal = 0;
    sigwait(&signals, &signal);
    if (signal != SIGHUP) return signal;
    if (log == nullptr) continue;
    const absl::Status reopened = log->Reopen();
    if (!reopened.ok()) Say(std::string(reopened.message()));
  }
}

// Measured without nodes: 11 threads and 12 descriptors.
constexpr ResourceNeed kNeed = {.threads = 13, .descriptors = 18};

int Serve(const DaemonOptions& options) {
  const absl::Status room = CheckRoom(kNeed);
  if (!room.ok()) return Fail(room, 1);
  // Block the signals before the first thread starts, so that all threads
  // inherit the mask.
  sigset_t signals;
  sigemptyset(&signals);
  for (int one : WithoutIgnored({SIGTERM, SIGINT})) sigaddset(&signals, one);
  // Add SIGHUP even if nohup ignores it: here it only reopens the log.
  sigaddset(&signals, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signal(SIGPIPE, SIG_IGN);

  absl::StatusOr<std::vector<std::string>> tokens =
      ReadTokens(options.token_file, Say);
  if (!tokens.ok()) return Fail(tokens.status(), kBadUsage);
  const absl::Status tls = CheckTlsFiles(options.tls, std::time(nullptr), Say);
  if (!tls.ok()) return Fail(tls, kBadUsage);
  std::unique_ptr<EventLog> log;
  if (!options.event_log.empty()) {
    log = std::make_unique<EventLog>(options.event_log,
                                     EventLog::Rotation::kOutside, Say);
    const absl::Status opened = log->Reopen();
    if (!opened.ok()) return Fail(opened, kBadUsage);
  }
  Coordinator::Options coordinating;
  if (!options.state_dir.empty()) {
    auto opened = OpenJournal(options.state_dir);
    if (!opened.ok()) return Fail(opened.status(), 1);
    if (!opened->kept.empty()) {
      Say(absl::StrCat("goes on with ", Counted(opened->kept.size(), "job"),
                       " of ", options.state_dir));
    }
    coordinating.journal = std::move(opened->journal);
    coordinating.kept = std::move(opened->kept);
  }
  coordinating.keep_finished = options.keep_finished;
  if (tokens->empty() && !options.tls.given()) {
    coordinating.max_jobs_per_peer = kMaxJobsPerPeer;
    coordinating.max_join_timeout = kMaxJoinTimeout;
  }
  coordinating.max_jobs_per_principal = options.max_jobs_per_principal;
  if (log != nullptr) {
    coordinating.on_decision = [&log](const std::string& run_id,
                                      const Decision& decision) {
      log->Append(run_id, decision);
    };
  }
  Coordinator coordinator(std::move(coordinating));
  GrpcServer::Options serving;
  serving.listen = options.listen;
  serving.tls = options.tls;
  serving.max_nodes_per_principal = options.max_nodes_per_principal;
  serving.tokens = *std::move(tokens);
  auto server = GrpcServer::Start(&coordinator, serving);
  if (!server.ok()) return Fail(server.status(), 1);
  std::atomic<bool> ending{false};
  const auto probes =
      ServeProbes(options, &coordinator, server->get(), &ending);
  if (!probes.ok()) return Fail(probes.status(), 1);
  if (!options.port_file.empty()) {
    const absl::Status written =
        WritePortFile(options.port_file, (*server)->address().port);
    if (!written.ok()) return Fail(written, kBadUsage);
  }
  std::printf("rendezvousd: listening on %s, room for %d nodes%s%s\n",
              (*server)->address().ToString().c_str(), (*server)->max_nodes(),
              serving.tls.given() || !serving.tokens.empty() ? ", mutual TLS"
                                                             : ", open to all",
              serving.tokens.empty() ? "" : ", job token asked for");
  if (*probes != nullptr) {
    std::printf("rendezvousd: answering probes on %s\n",
                (*probes)->address().ToString().c_str());
  }
  std::fflush(stdout);

  const int signal = WaitForEnd(signals, log.get());
  ending = true;
  Say(absl::StrCat("ending on ", signal == SIGINT ? "SIGINT" : "SIGTERM"));
  (*server)->Shutdown(kShutdownGrace);
  return 0;
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
