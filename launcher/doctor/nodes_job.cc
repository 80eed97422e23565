#include "launcher/doctor/nodes_job.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "agent/commands/tool_run.h"
#include "base/bounded_file.h"
#include "base/environment_value.h"
#include "base/monotonic_clock.h"
#include "base/owned_fd.h"
#include "base/subprocess.h"
#include "launcher/config/config_defaults.h"
#include "launcher/doctor/compare_nodes.h"
#include "launcher/doctor/doctor_job_flags.h"
#include "launcher/doctor/doctor_request.h"
#include "launcher/doctor/doctor_text.h"
#include "launcher/doctor/node_report.h"
#include "launcher/doctor/worker_outcome.h"
#include "launcher/options/flag_table.h"
#include "launcher/options/run_options.h"
#include "launcher/report/text_layout.h"
#include "launcher/ssh/ssh_front.h"
#include "launcher/voice.h"
#include "rendezvous/tls/token_identity.h"
#include "rendezvous/token/token.h"

namespace muster::launcher {
namespace {

// Redirects the stdout of this process and of its children to an unlinked file,
// until End() or the destructor.
class CapturedOutput {
 public:
  // Starts capturing the stdout of this process and its children. Unavailable:
  // no file can be created in `folder`.
  static absl::StatusOr<CapturedOutput> Begin(const std::string& folder);
  CapturedOutput(CapturedOutput&&) = default;
  CapturedOutput& operator=(CapturedOutput&&) = delete;
  ~CapturedOutput();

  // Restores stdout and returns the captured output.
  std::string End();

 private:
  CapturedOutput(OwnedFd file, OwnedFd before);
  OwnedFd file_;
  OwnedFd before_;  // the original stdout; closed once stdout is restored
};

// Limit for the captured output, in bytes; far above the encoded page of a
// thousand nodes.
constexpr size_t kMaxBytes = 128 << 20;

absl::StatusOr<CapturedOutput> CapturedOutput::Begin(
    const std::string& folder) {
  std::string path = folder + "/muster-doctor-XXXXXX";
  OwnedFd file(mkostemp(path.data(), O_CLOEXEC));
  if (!file.open()) {
    return absl::UnavailableError(absl::StrCat(
        "no file can be made in ", folder, ": ", std::strerror(errno),
        "; set TMPDIR to a folder that can be written"));
  }
  unlink(path.c_str());
  std::fflush(stdout);
  OwnedFd before(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3));
  if (!before.open() || dup2(file.get(), STDOUT_FILENO) < 0) {
    return absl::UnavailableError(
        absl::StrCat("stdout cannot be used: ", std::strerror(errno)));
  }
  return CapturedOutput(std::move(file), std::move(before));
}

CapturedOutput::CapturedOutput(OwnedFd file, OwnedFd before)
    : file_(std::move(file)), before_(std::move(before)) {}

CapturedOutput::~CapturedOutput() {
  if (before_.open()) End();
}

std::string CapturedOutput::End() {
  std::fflush(stdout);
  dup2(before_.get(), STDOUT_FILENO);
  before_.Close();
  lseek(file_.get(), 0, SEEK_SET);
  return ReadBeginning(file_.get(), kMaxBytes).value_or("");
}

using Environment = std::map<std::string, std::string>;

absl::StatusOr<CapturedOutput> Capture(const Environment& environment) {
  return CapturedOutput::Begin(
      NonEmptyEnvironmentValue(environment, "TMPDIR").value_or("/tmp"));
}

// Decodes the doctor's page from `output`, the output of the job. Prints all
// other lines of `output` on stderr. If `output` contains no page, returns a
// page without nodes.
NodesPage PageIn(const std::string& output) {
  const ReadOutcome outcome = ReadOutcomeLines(output);
  std::fputs(outcome.rest.c_str(), stderr);
  if (!outcome.text) return {};
  return ParseNodesJson(*outcome.text).value_or(NodesPage());
}

absl::StatusOr<int> Tell(const DoctorRequest& request,
                         const ExpectedNodes& expected, NodesPage page) {
  page.expected = expected.count;
  for (agent::Finding& absent : FindAbsent(expected, page.reports)) {
    page.between.push_back(std::move(absent));
  }
  // No node sent a report, and no host is known to have failed: the job itself
  // has failed and has printed the cause. Do not print a page.
  if (page.reports.empty() && expected.why.empty()) {
    return absl::NotFoundError("no node has told anything");
  }
  const std::string text =
      request.format == DoctorFormat::kJson
          ? absl::StrCat(NodesJson(page), "\n")
          : NodesText(page, request.detail, TargetOf(STDOUT_FILENO));
  const bool printed =
      std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0;
  return printed ? ExitCodeOf(WorstOfPage(page)) : 1;
}

// Changes the plan so that the job starts with all hosts that answer. Node
// ranks are removed, because without some hosts the ranks would have gaps.
void StartWithReachableHosts(const RunOptions& options, RemotePlan& plan) {
  plan.least = 1;
  plan.beginning = Beginning::kWithAllThatAnswer;
  plan.is_taken_over = false;
  plan.rendezvous_conf = DoctorsRdzvConf(options);
  plan.node.flags.emplace_back("--scale-up=never");
  for (RemoteHost& host : plan.node.hosts) {
    host.flags.erase(std::remove_if(host.flags.begin(), host.flags.end(),
                                    [](const std::string& flag) {
                                      return absl::StartsWith(flag,
                                                              "--node-rank=");
                                    }),
                     host.flags.end());
  }
  const auto token = plan.node.environment.find(rendezvous::kTokenVariable);
  if (token != plan.node.environment.end()) {
    plan.node.environment[kWorkersTokenVariable] = token->second;
  }
}

// RunOverSsh implements `launch doctor --nodes` with --hostfile, RunOverSlurm
// with --slurm. Each starts the agents of all nodes from this machine, and
// prints one page. The page shows the nodes that sent a report, and what is
// known about the other nodes. Both return the page's exit code. Call while the
// process has one thread.
//
// `options`: those of the job, without the worker's own flags. RunOverSlurm
// calls `launch` with `arguments`, which are the same options as text.
//
// NotFound: there is no page; the reason has been printed.
absl::StatusOr<int> RunOverSsh(const DoctorRequest& request,
                               const RunOptions& options,
                               const Environment& environment,
                               const Voice& voice) {
  absl::StatusOr<RemotePlan> plan = ReadFront(options, environment, voice);
  if (!plan.ok()) return plan.status();
  StartWithReachableHosts(options, *plan);
  ExpectedNodes expected;
  for (const RemoteHost& host : plan->node.hosts) {
    expected.names.push_back(host.name);
  }
  expected.count = static_cast<int>(expected.names.size());
  absl::StatusOr<CapturedOutput> output = Capture(environment);
  if (!output.ok()) return output.status();
  RemoteEnd end = RunRemotePlan(*plan, options, "launch");
  NodesPage page = PageIn(output->End());
  expected.why = std::move(end.failed);
  return Tell(request, expected, std::move(page));
}

absl::StatusOr<int> RunOverSlurm(const DoctorRequest& request,
                                 const RunOptions& options,
                                 const std::vector<std::string>& arguments,
                                 const Environment& environment,
                                 const LaunchFunction& launch) {
  ExpectedNodes expected;
  std::vector<std::string> meeting = {
      absl::StrCat("--rdzv-conf=", DoctorsRdzvConf(options))};
  // SLURM_HET_SIZE is set in a heterogeneous job. Each component of such a job
  // has its own node list, and the doctor does not read these lists. So the
  // doctor knows the expected nodes only if the job is not heterogeneous.
  if (!NonEmptyEnvironmentValue(environment, "SLURM_HET_SIZE")) {
    expected.names = SlurmNodes(environment);
    const bool is_given = options.remote.given.count("nnodes") > 0;
    expected.count = is_given ? ExpectedOf(options)
                              : static_cast<int>(expected.names.size());
    const int most = is_given ? options.spec.max_nodes : expected.count;
    meeting.emplace_back("--scale-up=never");
    if (most > 1) meeting.push_back(absl::StrCat("--nnodes=1:", most));
  }
  meeting.insert(meeting.end(), arguments.begin(), arguments.end());
  absl::StatusOr<CapturedOutput> output = Capture(environment);
  if (!output.ok()) return output.status();
  launch(meeting);
  NodesPage page = PageIn(output->End());
  return Tell(request, expected, std::move(page));
}

using Environment = std::map<std::string, std::string>;

constexpr int kNotTogether = 1;
// Time limit for `launch doctor` on this node. Longer than the sum of the time
// limits of its checks.
constexpr Duration kChecksTimeout = std::chrono::minutes(2);

std::vector<std::string> Joined(std::vector<std::string> first,
                                const std::vector<std::string>& then) {
  first.insert(first.end(), then.begin(), then.end());
  return first;
}

// Parses the options of the job's command line, with the defaults from the
// configuration file and the cluster.
absl::StatusOr<RunOptions> OptionsOf(const std::vector<std::string>& arguments,
                                     const Environment& environment) {
  const std::vector<Flag> flags = FlagsOf(FlagUser::kLaunchOnly);
  absl::StatusOr<ParsedOptions> parsed = ParseRunOptions(
      flags, arguments, environment, LaunchDefaults(flags, environment));
  if (!parsed.ok()) return parsed.status();
  return std::move(parsed->options);
}

// Sets the variables from which a worker of the job reads the job's token and
// the files for TLS. A token that cannot be read is not reported here: the job
// reads the token as well and reports the error.
void HandOnAccess(const RunOptions& options) {
  const absl::StatusOr<std::string> token = rendezvous::ReadCallerToken(
      options.token_file,
      [](const std::string& /*sentence*/) { /* said by the job */ });
  if (token.ok() && !token->empty()) {
    setenv(kWorkersTokenVariable, token->c_str(), /*overwrite=*/1);
  } else if (options.remote.start == RemoteStart::kSlurm &&
             !options.tls.given() && options.endpoints.empty()) {
    // main.cc makes this token the job's token, so that agents and workers have
    // the same token.
    setenv(kWorkersTokenVariable, rendezvous::FreshToken().c_str(),
           /*overwrite=*/1);
  }
  for (const auto& [variable, file] :
       {std::pair("MUSTER_TLS_CERT", options.tls.certificate),
        std::pair("MUSTER_TLS_KEY", options.tls.key),
        std::pair("MUSTER_TLS_CA", options.tls.authority)}) {
    if (!file.empty()) setenv(variable, file.c_str(), /*overwrite=*/1);
  }
}

// Returns the flags of the worker that differ from node to node.
std::vector<std::string> OfThisNode(const RunOptions& options,
                                    const std::string& outcome_file) {
  const TextTarget target = TargetOf(STDOUT_FILENO);
  std::vector<std::string> worker = {
      absl::StrCat("--as-node=", outcome_file),
      absl::StrCat("--columns=", target.style == TextStyle::kColoured
                                     ? target.columns
                                     : -target.columns),
      absl::StrCat("--expected=", ExpectedOf(options))};
  if (options.node_rank) {
    worker.push_back(absl::StrCat("--own-rank=", *options.node_rank));
  }
  return worker;
}

// Prints the page of this node alone and returns the exit code. Runs `launch
// doctor` as a new process, because this process may have several threads by
// now. `coordinator`: the coordinator's endpoints, which the new process checks
// too; empty: none. `why`: the reason for showing one node only.
int PrintOwnPage(const DoctorRequest& request, const RunOptions& options,
                 const std::vector<rendezvous::Endpoint>& coordinator,
                 const std::string& why) {
  std::fputs(absl::StrCat("launch doctor: ", why,
                          "; what follows is this node alone\n")
                 .c_str(),
             stderr);
  std::vector<std::string> argv = {OwnProgram(), "doctor"};
  if (!coordinator.empty()) {
    argv.push_back(
        absl::StrCat("--endpoint=", rendezvous::EndpointsText(coordinator)));
    if (!options.token_file.empty()) {
      argv.push_back(absl::StrCat("--token-file=", options.token_file));
    }
    HandOnAccess(options);
  }
  if (request.format == DoctorFormat::kJson) argv.emplace_back("--json");
  if (request.detail == Detail::kTroubleOnly) argv.emplace_back("--quiet");
  std::vector<std::string> token;
  if (!rendezvous::TakenToken().empty()) {
    token.push_back(absl::StrCat(rendezvous::kTokenVariable, "=",
                                 rendezvous::TakenToken()));
  }
  const std::string page =
      agent::RunTool({.argv = argv,
                      .environment = std::move(token),
                      .deadline = MonotonicNow() + kChecksTimeout})
          .output;
  std::fputs(page.c_str(), stdout);
  std::fflush(stdout);
  return kNotTogether;
}

// Runs this node's part of the job; the other nodes are started separately.
absl::StatusOr<int> RunAmongOthers(const DoctorRequest& request,
                                   const RunOptions& options,
                                   const Environment& environment,
                                   const LaunchFunction& launch) {
  const auto file = OutcomeFile::Make(
      NonEmptyEnvironmentValue(environment, "TMPDIR").value_or("/tmp"));
  if (!file.ok()) return file.status();
  const int code = launch(
      Joined(Joined(request.launch_arguments, FlagsForPartialJob(options)),
             WorkerArguments(request, OwnProgram(),
                             OfThisNode(options, file->path()))));
  const std::optional<DoctorResult> outcome = file->Read();
  if (outcome) {
    const bool printed = std::fputs(outcome->page.c_str(), stdout) >= 0 &&
                         std::fflush(stdout) == 0;
    return printed ? outcome->exit_code : 1;
  }
  if (code == 0 || NeverRan(code)) {
    return PrintOwnPage(request, options, {},
                        "the other nodes had begun when this one came, and did "
                        "not wait for it: run it on all of them again");
  }
  if (code != kNotTogether) return code;
  return PrintOwnPage(
      request, options, options.endpoints,
      "the nodes did not come together, for the reason above: look at those "
      "that are absent (do they run launch doctor --nodes with the same flags, "
      "or does a firewall keep them from the port?)");
}

}  // namespace

absl::StatusOr<int> RunOnAllNodes(const DoctorRequest& request,
                                  const Environment& environment,
                                  const LaunchFunction& launch,
                                  const Voice& voice) {
  const std::vector<std::string> remote =
      Joined(request.launch_arguments,
             WorkerArguments(request, OwnProgram(), {"--as-node=-"}));
  const absl::StatusOr<RunOptions> options = OptionsOf(remote, environment);
  if (!options.ok()) return options.status();
  if (request.detail == Detail::kAll) {
    std::fputs("launch doctor: waiting for the nodes to come together\n",
               stderr);
  }
  absl::StatusOr<int> code = 0;
  switch (options->remote.start) {
    case RemoteStart::kNone:
      HandOnAccess(*options);
      return RunAmongOthers(request, *options, environment, launch);
    case RemoteStart::kHostFile:
      code = RunOverSsh(request, *options, environment, voice);
      break;
    case RemoteStart::kSlurm:
      HandOnAccess(*options);
      code = RunOverSlurm(request, *options, remote, environment, launch);
      break;
  }
  if (!absl::IsNotFound(code.status())) return code;
  return PrintOwnPage(request, *options, {},
                      "the nodes did not come together, for the reason above");
}

}  // namespace muster::launcher
