#include "launcher/embedded_coordinator.h"

#include <signal.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "absl/strings/str_cat.h"

namespace muster::launcher {
namespace {

// Interval at which a lingering coordinator checks for signals.
constexpr Duration kLook = std::chrono::milliseconds(100);
// A coordinator that has lingered for this time prints a notice.
constexpr Duration kQuietLinger = std::chrono::seconds(2);
constexpr Duration kGoodbye = std::chrono::seconds(1);

bool SignalCame() {
  sigset_t blocked;
  pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  const timespec at_once = {};
  return sigtimedwait(&blocked, nullptr, &at_once) > 0;
}

bool AllFinished(const std::vector<rendezvous::JobStatus>& jobs) {
  return std::all_of(jobs.begin(), jobs.end(),
                     [](const rendezvous::JobStatus& job) {
                       return job.phase == rendezvous::JobPhase::kFinished;
                     });
}

}  // namespace

EmbeddedCoordinator::EmbeddedCoordinator(const Options& options,
                                         const Voice& voice)
    : event_log_(options.event_log.empty()
                     ? nullptr
                     : std::make_unique<rendezvous::EventLog>(
                           options.event_log,
                           rendezvous::EventLog::Rotation::kOwn,
                           [voice](const std::string& sentence) {
                             voice.Error(sentence);
                           },
                           options.log_directory)),
      coordinator_({.only_run_id = options.run_id,
                    .run_tag = options.run_tag,
                    .on_decision = [log = event_log_.get()](
                                       const std::string& run_id,
                                       const rendezvous::Decision& decision) {
                      if (log != nullptr) log->Append(run_id, decision);
                    }}) {}

absl::StatusOr<std::unique_ptr<EmbeddedCoordinator>> EmbeddedCoordinator::Start(
    const Options& options, const Voice& voice) {
  std::unique_ptr<EmbeddedCoordinator> here(
      new EmbeddedCoordinator(options, voice));
  const bool port_is_known = options.listen.port != 0;
  if (port_is_known) {
    const absl::Status kept = here->KeepToken(options.listen, options, voice);
    if (!kept.ok()) return kept;
  }
  rendezvous::GrpcServer::Options server;
  server.listen = options.listen;
  if (!options.token.empty()) server.tokens = {options.token};
  server.tls = options.tls;
  server.set_up = options.set_up;
  absl::StatusOr<std::unique_ptr<rendezvous::GrpcServer>> started =
      rendezvous::GrpcServer::Start(&here->coordinator_, server);
  if (!started.ok()) return started.status();
  here->server_ = *std::move(started);
  if (!port_is_known) {
    const absl::Status kept = here->KeepToken(here->address(), options, voice);
    if (!kept.ok()) return kept;
  }
  if (here->event_log_ != nullptr) here->event_log_->Create();
  return here;
}

absl::Status EmbeddedCoordinator::KeepToken(const rendezvous::Endpoint& listen,
                                            const Options& options,
                                            const Voice& voice) {
  if (options.token_parents.empty()) return absl::OkStatus();
  absl::StatusOr<std::unique_ptr<LocalToken>> kept =
      LocalToken::Keep(listen, options.token, options.token_parents);
  if (kept.ok()) {
    local_token_ = *std::move(kept);
    return absl::OkStatus();
  }
  if (absl::IsAlreadyExists(kept.status())) {
    return absl::AlreadyExistsError(absl::StrCat(
        "cannot listen on ", listen.ToString(), ": ", kept.status().message()));
  }
  voice.Notice(absl::StrCat(
      "launch status, watch, cancel and drain cannot reach this job, because "
      "its token cannot be kept: ",
      kept.status().message(),
      "; give a token by MUSTER_TOKEN or --token-file"));
  return absl::OkStatus();
}

void EmbeddedCoordinator::Linger(Duration close_timeout, const Voice& voice) {
  WaitForOthers(close_timeout, voice);
  // The grace lets `launch watch` receive the job's end.
  server_->Shutdown(kGoodbye);
}

void EmbeddedCoordinator::WaitForOthers(Duration close_timeout,
                                        const Voice& voice) {
  Duration waited = Duration::zero();
  Duration finished_for = Duration::zero();
  while (!coordinator_.WaitUntilDeserted(kLook)) {
    if (SignalCame()) return;
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
      return;
    }
  }
}

}  // namespace muster::launcher
