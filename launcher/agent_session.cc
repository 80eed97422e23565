#include "launcher/agent_session.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <ctime>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "agent/agent_view.h"
#include "agent/caught_signals.h"
#include "agent/gpus/gpu_watch.h"
#include "agent/gpus/job_files.h"
#include "agent/gpus/nvml.h"
#include "agent/health/check_health.h"
#include "agent/health/within.h"
#include "agent/logs/console.h"
#include "agent/logs/log_account.h"
#include "agent/logs/log_paths.h"
#include "agent/metrics/agent_metrics.h"
#include "agent/metrics/gpu_metrics.h"
#include "agent/nccl_id/nccl_id_holder.h"
#include "agent/preemption/requeue_job.h"
#include "agent/probes/agent_probes.h"
#include "base/dynamic_library.h"
#include "base/environment_value.h"
#include "base/ignored_signals.h"
#include "base/monotonic_clock.h"
#include "launcher/options/machine.h"
#include "launcher/options/remarks.h"
#include "launcher/report/text_layout.h"
#include "launcher/report/verdict_text.h"
#include "launcher/temporary_folder.h"
#include "rendezvous/dashboard/dashboard.h"
#include "rendezvous/dashboard/dashboard_access.h"
#include "rendezvous/metrics/exposition.h"
#include "rendezvous/metrics/job_metrics.h"
#include "rendezvous/probes/metrics_file.h"
#include "rendezvous/probes/probe_server.h"

namespace muster::launcher {
namespace {

// Size at which a log file in a temporary folder is rotated. The folder may lie
// in memory, so this size is small.
constexpr int64_t kTemporaryRotateBytes = 16 << 20;
// kLinkTimeout, kFolderTimeout: time limits for creating the link "latest" and
// the temporary folder, because a file system may hang.
constexpr Duration kLinkTimeout = std::chrono::seconds(1);
constexpr Duration kFolderTimeout = std::chrono::seconds(5);
// Time limit for finding the GPUs for the files of --dcgm-job-mapping-dir: the
// driver may hang.
constexpr Duration kGpuTimeout = std::chrono::seconds(5);

bool KeepsStreams(const agent::StreamsByRank& streams) {
  return streams.all != agent::StreamSet::kNone ||
         !streams.by_local_rank.empty();
}

void ShowReason(const Voice& voice, const agent::AgentResult& result) {
  if (result.exit_code == 0) {
    voice.Notice(result.reason);
  } else {
    voice.Error(result.reason);
  }
}

void Show(const Voice& voice, const agent::AgentResult& result,
          agent::JobMessages job_messages, const std::string& program_name) {
  if (!result.verdict || result.never_ran) return ShowReason(voice, result);
  // Whether the stderr of all nodes is merged, so that only one node should
  // print the verdict. False, for example, for an agent that was started over
  // ssh: each such agent writes the verdict to a separate descriptor, and the
  // `launch` that started the agents uses the first verdict that arrives.
  const bool is_shared = job_messages != agent::JobMessages::kAll &&
                         voice.verdict_fd() == STDERR_FILENO;
  if (is_shared && !result.acts_for_job) {
    // Only the node that acts for the job (AgentResult::acts_for_job) prints
    // the verdict. It is possible that no node acts for the job, because the
    // job ended before some nodes joined. So the node that prints the general
    // messages (kAssignedAndGeneral; in a Slurm step, task 0) prints at least
    // the reason.
    if (job_messages == agent::JobMessages::kAssignedAndGeneral) {
      ShowReason(voice, result);
    }
    return;
  }
  if (result.verdict->outcome == rendezvous::Outcome::kSucceeded &&
      voice.talk() == Talk::kErrorsOnly &&
      voice.verdict_fd() == STDERR_FILENO) {
    return;
  }
  const std::string text =
      VerdictText(*result.verdict, program_name, TargetOf(voice.verdict_fd()));
  voice.Verdict(text);
}

bool IsPreempted(const agent::AgentResult& result) {
  return result.verdict.has_value() &&
         result.verdict->outcome == rendezvous::Outcome::kPreempted;
}

// Whether the job ended because other nodes did not join in time, or because
// this node did not reach the coordinator.
bool EndedForAbsence(const agent::AgentResult& result) {
  return result.verdict.has_value()
             ? result.verdict->outcome == rendezvous::Outcome::kTimedOut
             : result.exit_code == 1;
}

std::string NvmlLibraryFile(
    const std::map<std::string, std::string>& environment) {
  return NonEmptyEnvironmentValue(environment, "MUSTER_NVML_LIBRARY")
      .value_or("libnvidia-ml.so.1");
}

// Watches this node's GPUs if their metrics are shown or the workers use GPUs.
// The watch sees Xid errors, which explain why a worker failed. Null: not
// watched.
std::unique_ptr<agent::GpuWatch> WatchGpus(const agent::AgentOptions& options) {
  if (!options.health.metrics_listen.has_value() &&
      options.health.metrics_textfile.empty() &&
      options.environment.gpu_of_local_rank.empty() &&
      options.health.gpus_needed == 0) {
    return nullptr;
  }
  return std::make_unique<agent::GpuWatch>(
      agent::GpuWatch::Options{.library = NvmlLibraryFile(ReadEnvironment())});
}

// Plans the files of --dcgm-job-mapping-dir, which tell dcgm-exporter the job
// of each GPU of this node's workers. Removes the files that an earlier job has
// left for these GPUs.
agent::JobFiles PlanJobFiles(const Voice& voice,
                             const agent::AgentOptions& options) {
  agent::JobFiles files = {.folder = options.health.job_mapping_dir,
                           .names = {},
                           .job = options.run_id};
  if (files.folder.empty()) return files;
  using Names = absl::StatusOr<std::vector<std::string>>;
  const std::map<std::string, std::string> environment = ReadEnvironment();
  const Names names =
      agent::Within<Names>(
          MonotonicNow() + kGpuTimeout,
          [library = NvmlLibraryFile(environment),
           chosen = options.environment.gpu_of_local_rank,
           visible = EnvironmentValue(environment, "CUDA_VISIBLE_DEVICES"),
           files]() mutable -> Names {
            const auto gpus = agent::ReadGpus(library);
            if (!gpus.ok()) return gpus.status();
            files.names = agent::JobFileNames(
                chosen.empty() ? agent::VisibleGpus(visible, *gpus) : chosen,
                *gpus, agent::MachineGpuAddresses());
            agent::RemoveStaleJobFiles(files);
            return files.names;
          })
          .value_or(absl::DeadlineExceededError(absl::StrCat(
              "NVIDIA's driver or ", files.folder, " does not answer")));
  if (!names.ok() || names->empty()) {
    voice.Notice(absl::StrCat("--dcgm-job-mapping-dir has no effect: ",
                              names.ok()
                                  ? "this node has no GPU of NVIDIA to use"
                                  : std::string(names.status().message())));
  } else {
    files.names = *names;
  }
  return files;
}

std::function<absl::Status()> HealthChecks(const agent::AgentOptions& options) {
  agent::HealthScope scope;
  scope.folders = {options.logs.directory, options.socket_parent};
  scope.timeout = options.health.timeout;
  const std::map<std::string, std::string> environment = ReadEnvironment();
  const auto gpus = environment.find("CUDA_VISIBLE_DEVICES");
  if (gpus != environment.end()) scope.visible_gpus = gpus->second;
  scope.gpus_needed = options.health.gpus_needed;
  scope.nvml_library = NvmlLibraryFile(environment);
  return [checks = options.health.checks, scope] {
    return agent::CheckHealth(checks, scope);
  };
}

// Takes the pending, blocked signals that ask this process to end, and returns
// their number. A signal that arrived several times counts once.
int TakeEndSignals() {
  sigset_t stopping;
  sigemptyset(&stopping);
  for (const int number : WithoutIgnored({SIGINT, SIGTERM, SIGHUP, SIGQUIT})) {
    sigaddset(&stopping, number);
  }
  sigset_t blocked;
  pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  sigandset(&stopping, &stopping, &blocked);
  const timespec at_once = {};
  int taken = 0;
  while (sigtimedwait(&stopping, nullptr, &at_once) > 0) ++taken;
  return taken;
}

agent::ConsoleWriter::Limits ConsoleLimits(const agent::LogPlan& logs) {
  agent::ConsoleWriter::Limits limits;
  if (logs.console.drops)
    limits.when_full = agent::ConsoleWriter::WhenFull::kDrop;
  return limits;
}

// Reports how much output the console did not show, and where to read it.
void TellLosses(const Voice& voice, agent::Console& console,
                const std::string& where) {
  for (const std::string& loss : console.Losses(where)) {
    console.Tell(absl::StrCat(voice.program(), ": ", loss, "\n"));
  }
}

// Returns the text of /metrics: this node, its GPUs if `gpus` is not null, and
// the jobs that the coordinator in this process, `own`, coordinates.
std::string MetricsText(const agent::NodeNames& names,
                        const agent::AgentState& state,
                        const agent::LogAccount::Sums& logs,
                        agent::WorkerSeries workers, agent::GpuWatch* gpus,
                        const CoordinatorPages& own) {
  rendezvous::Exposition page;
  rendezvous::AddBuildInfo(page);
  agent::AddNodeMetrics(names, state, logs, workers, page);
  if (gpus != nullptr) agent::AddGpuMetrics(gpus->Look(), page);
  if (own.jobs) {
    rendezvous::AddCoordinatorLosses(own.losses(), page);
    rendezvous::AddJobMetrics(own.jobs(), page);
  }
  return page.text();
}

// Returns the dashboard of this process; null if the user asked for none.
// InvalidArgument: the dashboard may not listen at its address.
absl::StatusOr<std::shared_ptr<rendezvous::Dashboard>> MakeDashboard(
    const agent::AgentOptions& options, const CoordinatorPages& own) {
  const auto& listen = options.health.dashboard_listen;
  if (!listen.has_value()) return nullptr;
  const absl::Status may =
      rendezvous::CheckDashboard(*listen, own.tokens, own.certificates);
  if (!may.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--dashboard-listen: ", may.message()));
  }
  const std::string there = absl::StrCat(
      "This process is node ", options.node.node_id, " of job ", options.run_id,
      "; the job is coordinated at ", options.coordinator_endpoint, ".");
  auto read = [jobs = own.jobs, elsewhere = own.elsewhere, there] {
    rendezvous::CoordinatedJobs now;
    now.elsewhere = elsewhere == nullptr ? there : elsewhere();
    if (now.elsewhere.empty() && jobs) now.jobs = jobs();
    return now;
  };
  return std::make_shared<rendezvous::Dashboard>(
      std::move(read), own.inquirer,
      rendezvous::DashboardAccess{
          .tokens = own.tokens,
          .host_names = {listen->host, options.node.host},
          .output = rendezvous::OutputShownAt(*listen)},
      rendezvous::Dashboard::Clock{.now = MonotonicNow,
                                   .unix_time = [] { return std::time({}); }});
}

// Makes NCCL in the workers load Muster's profiler plug-in, unless the user has
// chosen another one.
void OfferProfiler(const Voice& voice, agent::EnvironmentPlan& environment) {
  constexpr PluginName kProfiler = {.file = "libmuster_nccl_profiler.so",
                                    .folder = "trainer_sdk/nccl_profiler",
                                    .user = "--profile-collectives",
                                    .if_not_loaded = "",
                                    .if_missing = "tools/install installs it"};
  constexpr char kVariable[] = "NCCL_PROFILER_PLUGIN";
  const std::map<std::string, std::string> inherited = ReadEnvironment();
  if (inherited.contains(kVariable) || environment.more.contains(kVariable)) {
    voice.Notice(absl::StrCat(kProfiler.user, " has no effect: ", kVariable,
                              " names another plug-in"));
    return;
  }
  const std::string path = FindPluginFile(kProfiler);
  if (path.empty()) {
    voice.Notice(
        absl::StrCat(kProfiler.user, " has no effect: ", kProfiler.file,
                     " is not beside this program; ", kProfiler.if_missing));
    return;
  }
  environment.more[kVariable] = path;
}

}  // namespace

void PointLatestInTime(const std::string& directory,
                       const std::string& run_name) {
  agent::Within<std::monostate>(
      MonotonicNow() + kLinkTimeout, [directory, run_name] {
        agent::PointLatestAt(agent::RunFolder(directory, run_name), directory);
        return std::monostate();
      });
}

void PrepareSignals(const agent::AgentOptions& options) {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int number : WithoutIgnored(agent::SignalsCaughtBy(options))) {
    sigaddset(&signals, number);
  }
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signal(SIGPIPE, SIG_IGN);
}

agent::AgentResult RunAgentSession(const Voice& voice,
                                   agent::AgentOptions options,
                                   const std::string& program_name,
                                   LogFolder log_folder,
                                   agent::Guardian* guardian,
                                   rendezvous::CoordinatorLink* link,
                                   const CoordinatorPages& own) {
  const bool streams_kept =
      KeepsStreams(options.logs.redirects) || KeepsStreams(options.logs.tee);
  if (log_folder == LogFolder::kTemporary) {
    absl::StatusOr<std::string> made =
        agent::Within<absl::StatusOr<std::string>>(
            MonotonicNow() + kFolderTimeout,
            [directory = options.logs.directory] {
              return MakeTemporaryFolder(directory);
            })
            .value_or(absl::UnavailableError(absl::StrCat(
                options.logs.directory,
                ": the file system of the temporary folder does not answer; "
                "set TMPDIR or give --log-dir")));
    if (!made.ok()) {
      return {.exit_code = voice.Refuse(made.status()),
              .verdict = {},
              .reason = ""};
    }
    options.logs.directory = *std::move(made);
    if (options.logs.rotation == agent::LogPlan::Rotation::kOfShownStreams) {
      options.logs.rotate_bytes = kTemporaryRotateBytes;
      options.logs.keep_rotated = 1;
    }
  }
  const std::string directory = options.logs.directory;
  for (const std::string& remark : options.remarks) voice.Notice(remark);
  if (options.node.slots > 1 || options.spec.max_nodes > 1) {
    const std::string remark = MpiRemark(options.argv);
    if (!remark.empty() &&
        options.policy.job_messages != agent::JobMessages::kAssigned) {
      voice.Notice(remark);
    }
  }
  options.nccl_id_program = agent::NcclIdProgram(ReadEnvironment());
  options.gpu_pair_program = agent::GpuProgram(ReadEnvironment());
  if (options.profiles_collectives) OfferProfiler(voice, options.environment);
  const agent::Requeue requeue = options.preemption.requeue;
  const agent::JobMessages job_messages = options.policy.job_messages;
  const std::string absent_hint = options.absent_hint;
  if (!options.health.checks.empty()) {
    options.health_checks = HealthChecks(options);
  }
  options.job_files = PlanJobFiles(voice, options);
  const std::unique_ptr<agent::GpuWatch> gpus = WatchGpus(options);
  agent::AgentView view;
  const auto log_account = std::make_shared<agent::LogAccount>();
  auto dashboard = MakeDashboard(options, own);
  if (!dashboard.ok()) {
    return {.exit_code = voice.Refuse(dashboard.status()),
            .verdict = {},
            .reason = ""};
  }
  rendezvous::Probes probes = agent::ProbesOf(&view, own.live);
  AddDashboard(*dashboard, probes);
  const auto metrics =
      [names = agent::NodeNames{.run_id = options.run_id,
                                .node_id = options.node.node_id,
                                .host = options.node.host},
       workers = options.health.metrics_ranks ? agent::WorkerSeries::kEach
                                              : agent::WorkerSeries::kTogether,
       &view, log_account, gpus = gpus.get(), &own] {
        return MetricsText(names, view.Look(), log_account->sums(), workers,
                           gpus, own);
      };
  const auto pages =
      rendezvous::ServePages({.probes = options.health.probe_listen,
                              .metrics = options.health.metrics_listen,
                              .dashboard = options.health.dashboard_listen},
                             probes, metrics, /*say=*/nullptr);
  if (!pages.ok()) {
    return {
        .exit_code = voice.Refuse(pages.status()), .verdict = {}, .reason = ""};
  }
  if (*dashboard != nullptr) {
    // `pages` lists the HTTP servers that are open. The last server in this
    // list serves the dashboard.
    voice.Notice(absl::StrCat(
        "the dashboard is at http://", pages->back()->address().ToString(), "/",
        own.tokens.empty() ? "" : ", for those with a token"));
  }
  const agent::LogPlan& logs = options.logs;
  const auto console = std::make_shared<agent::Console>(
      agent::ConsoleFds{}, ConsoleLimits(logs), std::string(voice.program()));
  voice.SpeakThrough(console);
  std::optional<rendezvous::MetricsFile> metrics_file;
  if (!options.health.metrics_textfile.empty()) {
    metrics_file.emplace(
        options.health.metrics_textfile, metrics,
        [&voice](const std::string& sentence) { voice.Notice(sentence); });
  }
  // The result that this function returns. At the end of the function, the
  // cleanup `linger` below waits until other nodes no longer need the
  // coordinator in this process. The HTTP pages, declared above, are closed
  // after that.
  agent::AgentResult result;
  const absl::Cleanup linger = [&own, &result] {
    if (own.linger) own.linger(result.exit_code);
  };
  const agent::ConsoleWriter::WaitLimits limits = {
      .without_progress = logs.console.timeout,
      .end_signals = [count = std::make_shared<std::atomic<int>>(0)] {
        return *count += TakeEndSignals();
      }};
  if (log_folder == LogFolder::kGiven && !logs.is_tagged) {
    PointLatestInTime(logs.directory, logs.run_name);
  }
  {
    agent::Agent agent(
        std::move(options), guardian, link,
        {.on_notice = [&](const std::string& line) { voice.Notice(line); },
         .on_loss = [&](const std::string& line) { voice.Error(line); },
         .on_round = own.on_round,
         .view = &view,
         .console = console,
         .log_account = log_account,
         .gpus = gpus.get(),
         .limits = limits});
    result = agent.Run();
  }
  Show(voice, result, job_messages, program_name);
  if (!absent_hint.empty() && EndedForAbsence(result)) voice.Error(absent_hint);
  if (requeue == agent::Requeue::kYes && IsPreempted(result) &&
      result.acts_for_job) {
    // The requeue makes Slurm end all processes of the Slurm job. No node
    // misses the verdict of Muster's job, because all nodes have received it
    // already.
    voice.Notice("putting the job back into its queue");
    const absl::Status put_back = agent::RequeueJob(ReadEnvironment());
    if (!put_back.ok()) voice.Error(std::string(put_back.message()));
  }
  agent::ConsoleWriter::WaitLimits rest =
      agent::WaitLimitsAtEnd(limits, result.end);
  if (console->IsIncomplete()) rest.without_progress = std::chrono::seconds(1);
  console->Finish(rest);
  const bool incomplete = console->IsIncomplete();
  const agent::LogAccount::Sums missing = log_account->sums();
  const std::string& where =
      result.log_folder.empty() ? directory : result.log_folder;
  TellLosses(voice, *console, missing.lost == 0 ? where : "");
  if (missing.lost_file_only > 0) {
    voice.Error(absl::StrCat(missing.lost_file_only,
                             " bytes of workers' output are lost: they were to "
                             "be in log files alone, see above"));
  }
  const bool lost = console->Failed() || missing.lost_file_only > 0;
  if (lost && result.exit_code == 0)
    result.exit_code = agent::kOutputLostExitCode;
  const bool wanted = log_folder == LogFolder::kGiven ||
                      result.exit_code != 0 || streams_kept || incomplete;
  if (wanted && missing.dropped > 0) {
    voice.Notice(absl::StrCat(
        "rotation has deleted ", missing.dropped,
        " bytes of older output from the log files (--log-rotate-mb)"));
  }
  if (log_folder == LogFolder::kGiven) return result;
  const std::optional<bool> stays =
      agent::Within<bool>(MonotonicNow() + kFolderTimeout, [directory, wanted] {
        if (wanted && HoldsFile(directory)) return true;
        RemoveTemporaryFolder(directory);
        return false;
      });
  if (!stays) {
    voice.Error(absl::StrCat(directory,
                             " does not answer: its file system hangs, and the "
                             "temporary folder stays"));
  } else if (*stays) {
    voice.Error(absl::StrCat("log and error files are in ", directory));
  }
  return result;
}

}  // namespace muster::launcher
