#include "launcher/doctor/nodes_job.h"

#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <optional>

#include "absl/strings/str_cat.h"
#include "agent/commands/tool_run.h"
#include "base/environment_value.h"
#include "base/monotonic_clock.h"
#include "base/own_program.h"
#include "launcher/config/config_defaults.h"
#include "launcher/doctor/doctor_meeting.h"
#include "launcher/doctor/doctor_text.h"
#include "launcher/doctor/job_token.h"
#include "launcher/doctor/outcome_file.h"
#include "launcher/doctor/remote_nodes.h"
#include "launcher/doctor/worker_arguments.h"
#include "launcher/options/flag_table.h"
#include "launcher/report/text_style.h"
#include "rendezvous/token/token.h"

namespace muster::launcher {
namespace {

using Environment = std::map<std::string, std::string>;

constexpr int kNotTogether = 1;
// Longer than all checks of a page together may take.
constexpr Duration kPatience = std::chrono::minutes(2);

std::vector<std::string> Joined(std::vector<std::string> first,
                                const std::vector<std::string>& then) {
  first.insert(first.end(), then.begin(), then.end());
  return first;
}

// The options of the job's command line, with the defaults from configuration
// and cluster.
absl::StatusOr<RunOptions> OptionsOf(const std::vector<std::string>& arguments,
                                     const Environment& environment) {
  const std::vector<Flag> flags = FlagsOf(FlagUser::kLaunchOnly);
  absl::StatusOr<ParsedOptions> parsed = ParseRunOptions(
      flags, arguments, environment, LaunchDefaults(flags, environment));
  if (!parsed.ok()) return parsed.status();
  return std::move(parsed->options);
}

// Sets the variable in which a worker of the job finds the job's token. A token
// that cannot be read is reported by the job, which reads it as well.
void HandOnToken(const RunOptions& options) {
  const absl::StatusOr<std::string> token = rendezvous::ReadToken(
      options.token_file,
      [](const std::string& /*sentence*/) { /* said by the job */ });
  if (token.ok() && !token->empty()) {
    setenv(kWorkersTokenVariable, token->c_str(), /*overwrite=*/1);
  }
}

// The worker's flags that depend on this node.
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
// now. `coordinator`: also checked if given.
int PrintOwnPage(const DoctorRequest& request, const RunOptions& options,
                 const std::optional<rendezvous::Endpoint>& coordinator,
                 const std::string& why) {
  std::fputs(absl::StrCat("launch doctor: ", why,
                          "; what follows is this node alone\n")
                 .c_str(),
             stderr);
  std::vector<std::string> argv = {OwnProgram(), "doctor"};
  if (coordinator) {
    argv.push_back(absl::StrCat("--endpoint=", coordinator->ToString()));
    if (!options.token_file.empty()) {
      argv.push_back(absl::StrCat("--token-file=", options.token_file));
    }
  }
  if (request.format == DoctorFormat::kJson) argv.emplace_back("--json");
  if (request.detail == Detail::kTroubleOnly) argv.emplace_back("--quiet");
  const std::string page =
      agent::RunTool({.argv = argv, .deadline = MonotonicNow() + kPatience})
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
      Joined(Joined(request.launch_arguments, MeetingOfThoseThatCome(options)),
             WorkerArguments(request, OwnProgram(),
                             OfThisNode(options, file->path()))));
  const std::optional<DoctorResult> outcome = file->Read();
  if (outcome) {
    const bool printed = std::fputs(outcome->page.c_str(), stdout) >= 0 &&
                         std::fflush(stdout) == 0;
    return printed ? outcome->exit_code : 1;
  }
  if (code == 0 || NeverRan(code)) {
    return PrintOwnPage(request, options, std::nullopt,
                        "the other nodes had begun when this one came, and did "
                        "not wait for it: run it on all of them again");
  }
  if (code != kNotTogether) return code;
  return PrintOwnPage(
      request, options, options.endpoint,
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
      HandOnToken(*options);
      return RunAmongOthers(request, *options, environment, launch);
    case RemoteStart::kHostFile:
      code = RunOverSsh(request, *options, environment, voice);
      break;
    case RemoteStart::kSlurm:
      HandOnToken(*options);
      code = RunOverSlurm(request, *options, remote, environment, launch);
      break;
  }
  if (!absl::IsNotFound(code.status())) return code;
  return PrintOwnPage(request, *options, std::nullopt,
                      "the nodes did not come together, for the reason above");
}

}  // namespace muster::launcher
