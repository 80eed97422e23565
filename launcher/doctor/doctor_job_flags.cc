#include "launcher/doctor/doctor_job_flags.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "rendezvous/protocol/verdict.h"

namespace muster::launcher {
namespace {

constexpr Duration kJoinTimeout = std::chrono::seconds(60);

std::string GivenConf(const RunOptions& options) {
  const auto given = options.remote.given.find("rdzv-conf");
  return given == options.remote.given.end() ? "" : given->second;
}

}  // namespace

std::string DoctorsRdzvConf(const RunOptions& options) {
  const std::string given = GivenConf(options);
  const auto is_given = [&](const char* key) {
    return options.rdzv_conf.count(key) > 0;
  };
  std::vector<std::string> parts;
  if (!given.empty()) parts.push_back(given);
  Duration join = kJoinTimeout;
  if (is_given("join_timeout") || is_given("timeout")) {
    join = options.spec.join_timeout;
  } else {
    parts.push_back(absl::StrCat("join_timeout=", ToSeconds(join)));
  }
  if (!is_given("last_call_timeout")) {
    parts.push_back(absl::StrCat("last_call_timeout=", ToSeconds(join)));
  }
  // Lets nodes have different commands, because the command of each node
  // contains the name of that node's result file.
  if (!is_given("mixed_nodes")) parts.emplace_back("mixed_nodes=1");
  return absl::StrJoin(parts, ",");
}

bool NeverRan(int exit_code) {
  return exit_code == rendezvous::kNeverRanExitCode;
}

int ExpectedOf(const RunOptions& options) { return options.spec.min_nodes; }

std::vector<std::string> FlagsForPartialJob(const RunOptions& options) {
  const rendezvous::JobSpec& spec = options.spec;
  std::string conf = DoctorsRdzvConf(options);
  if (spec.max_nodes == 1) return {absl::StrCat("--rdzv-conf=", conf)};
  std::vector<std::string> flags = {
      absl::StrCat("--nnodes=1:", spec.max_nodes),
      // Without this flag, a node that joins late could restart the round,
      // which would interrupt the checks of the other nodes.
      "--scale-up=never"};
  const bool is_static = options.backend == RendezvousBackend::kStatic &&
                         options.endpoints.empty();
  if (is_static) {
    flags.push_back(
        absl::StrCat("--rdzv-endpoint=", options.master.ToString()));
    if (options.node_rank) {
      flags.push_back(absl::StrCat("--node-rank=", *options.node_rank));
      if (options.hosting == Hosting::kIfOwner) {
        absl::StrAppend(&conf, ",is_host=", *options.node_rank == 0 ? 1 : 0);
      }
    }
  }
  flags.push_back(absl::StrCat("--rdzv-conf=", conf));
  return flags;
}

std::vector<std::string> WorkerArguments(
    const DoctorRequest& request, const std::string& launch_path,
    const std::vector<std::string>& worker) {
  // No health checks: they would keep an unhealthy node out of the job, and the
  // doctor must examine this node.
  std::vector<std::string> arguments = {"--nproc-per-node=1",
                                        "--max-restarts=0",
                                        "--health-command=",
                                        "--health-checks=",
                                        "--quiet",
                                        "--no-python",
                                        launch_path,
                                        "doctor"};
  arguments.insert(arguments.end(), worker.begin(), worker.end());
  if (request.format == DoctorFormat::kJson) arguments.emplace_back("--json");
  if (request.detail == Detail::kTroubleOnly) {
    arguments.emplace_back("--quiet");
  }
  if (!request.log_dir.empty()) {
    arguments.push_back(absl::StrCat("--log-dir=", request.log_dir));
  }
  if (!request.folders.empty()) {
    arguments.push_back(
        absl::StrCat("--folders=", absl::StrJoin(request.folders, ",")));
  }
  return arguments;
}

}  // namespace muster::launcher
