// The program `launch`, which runs this node's part of a job; see docs/CLI.md.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/environment_value.h"
#include "launcher/admin_command.h"
#include "launcher/admin_request.h"
#include "launcher/bench_command.h"
#include "launcher/bootstrap.h"
#include "launcher/completion.h"
#include "launcher/config/config_command.h"
#include "launcher/config/config_defaults.h"
#include "launcher/doctor/doctor_command.h"
#include "launcher/doctor/doctor_job_flags.h"
#include "launcher/frontend/frontend.h"
#include "launcher/init_process.h"
#include "launcher/inspect_command.h"
#include "launcher/launch_help.h"
#include "launcher/options/flag_table.h"
#include "launcher/options/run_options.h"
#include "launcher/run_command.h"
#include "launcher/run_report/report_command.h"
#include "launcher/slurm/job_result.h"
#include "launcher/slurm/slurm_command.h"
#include "launcher/ssh/agent_process.h"
#include "launcher/ssh/ssh_node.h"
#include "launcher/subcommands.h"
#include "launcher/token_command.h"
#include "launcher/voice.h"
#include "rendezvous/protocol/report.h"
#include "rendezvous/token/token.h"
#include "rendezvous/version.h"

namespace muster::launcher {
namespace {

int PrintCompletion(const char* origin, const std::string& shell,
                    CompletedCommand command, const Voice& voice) {
  const absl::StatusOr<std::string> script = CompletionScript(shell, command);
  if (script.ok()) return Print(*script);
  return voice.Refuse(absl::InvalidArgumentError(
                          absl::StrCat(origin, script.status().message())),
                      command == CompletedCommand::kLaunch ? "completion" : "");
}

int CompletionCommand(const std::vector<std::string>& args,
                      const Voice& voice) {
  if (args.size() == 1 && (args[0] == "--help" || args[0] == "-h")) {
    return Print("Usage:\n  launch completion bash|zsh|fish\n");
  }
  if (args.size() > 1) {
    return voice.Refuse(
        absl::InvalidArgumentError(absl::StrCat(
            "completion: ", args[1], ": name one shell, bash, zsh or fish")),
        "completion");
  }
  return PrintCompletion("completion: ", args.empty() ? "" : args[0],
                         CompletedCommand::kLaunch, voice);
}

int LaunchFor(const CalledAs& called, const std::vector<std::string>& args);

using Environment = std::map<std::string, std::string>;

// Runs a subcommand. `args` include the subcommand's name. Returns the exit
// code.
int RunSubcommand(const Subcommand& subcommand,
                  const std::vector<std::string>& args,
                  const Environment& environment, const Voice& voice) {
  const std::vector<std::string> own(args.begin() + 1, args.end());
  switch (subcommand.id) {
    using enum SubcommandId;
    case kStatus:
    case kWatch:
    case kTop:
    case kLogs:
    case kStacks:
    case kCancel:
    case kDrain:
    case kNodes: {
      const absl::StatusOr<AdminRequest> request =
          ParseAdminRequest(args, environment);
      return request.ok() ? AdminCommand(*request, voice)
                          : voice.Refuse(request.status(), subcommand.name);
    }
    case kInspect:
      return InspectCommand(own, voice);
    case kReport:
      return ReportCommand(own, environment, voice);
    case kDoctor:
      return DoctorCommand(
          own, environment,
          [](const std::vector<std::string>& job) {
            return LaunchFor({.args = job, .name = "launch"}, job);
          },
          voice);
    case kBench:
      return BenchCommand(own, environment, voice);
    case kToken:
      return TokenCommand(own, environment, voice);
    case kConfig:
      return ConfigCommand(own, FlagsOf(FlagUser::kLaunchOnly), environment,
                           voice);
    case kCompletion:
      return CompletionCommand(own, voice);
  }
  MUSTER_CHECK(false) << subcommand.name << " is no subcommand";
  return 1;
}

// Returns the environment for srun, which passes it on to the tasks. Adds the
// job's token; the first rule that applies decides:
//
// - If the user gave a token in MUSTER_TOKEN, this is the token.
// - If the user gave a token file, TLS files or the endpoint of a coordinator,
//   no token is added.
// - Otherwise one of the tasks hosts the coordinator. The token is that of
//   `launch doctor` (kWorkersTokenVariable) if there is one, or else a fresh
//   token.
Environment WithJobToken(Environment environment, const RunOptions& options) {
  const bool has_access = !rendezvous::TakenToken().empty() ||
                          !options.token_file.empty() || options.tls.given();
  if (!rendezvous::TakenToken().empty()) {
    environment[rendezvous::kTokenVariable] = rendezvous::TakenToken();
  }
  if (has_access || !options.endpoints.empty()) return environment;
  const auto doctors = environment.find(kWorkersTokenVariable);
  environment[rendezvous::kTokenVariable] =
      doctors == environment.end() ? rendezvous::FreshToken() : doctors->second;
  environment[kTokenMadeVariable] = "1";
  return environment;
}

// Runs the command line `args`, which has the syntax of `launch`, regardless of
// the name by which the program was called.
int LaunchFor(const CalledAs& called, const std::vector<std::string>& args) {
  RemoteOptions starter;
  TakeStarterPipes(starter);
  const std::string name = TakeCalledName(called.name);
  const std::string result_path = TakeResultPath();
  const Environment environment = ReadEnvironment();
  const Voice voice(name.c_str(), Talk::kAll);
  const Subcommand* const subcommand =
      args.empty() ? nullptr : FindSubcommand(args[0]);
  if (subcommand != nullptr) {
    return RunSubcommand(*subcommand, args, environment, voice);
  }
  absl::StatusOr<ParsedOptions> parsed = ParseRunOptions(
      FlagsOf(FlagUser::kLaunchOnly), args, environment,
      LaunchDefaults(FlagsOf(FlagUser::kLaunchOnly), environment));
  const auto refuse = [&](const absl::Status& why) {
    return voice.Refuse(WithFrontendFlagNames(called.frontend, why));
  };
  if (!parsed.ok()) return refuse(parsed.status());
  parsed->options.remote.endpoint_fd = starter.endpoint_fd;
  parsed->options.remote.verdict_fd = starter.verdict_fd;
  parsed->options.remote.token_maker = starter.token_maker;
  if (starter.verdict_fd >= 0) parsed->options.cluster = Cluster::kHostFile;
  if (starter.job_messages != agent::JobMessages::kAll) {
    parsed->options.policy.job_messages = starter.job_messages;
  }
  switch (parsed->request) {
    case Request::kHelp:
      return Print(LaunchHelp());
    case Request::kVersion:
      return Print(absl::StrCat("launch (muster) ", rendezvous::kVersion,
                                ", protocol ", rendezvous::kProtocolVersion,
                                "\n"));
    case Request::kCompletion:
      return PrintCompletion("--print-completion: ", parsed->shell,
                             called.frontend == Frontend::kLaunch
                                 ? CompletedCommand::kLaunch
                                 : CompletedCommand::kTorchrun,
                             voice);
    case Request::kRun:
      break;
  }
  if (parsed->options.remote.start == RemoteStart::kSlurm) {
    return SlurmCommand(name, args, parsed->options,
                        WithJobToken(environment, parsed->options));
  }
  const int exit_code = RunAsInit(
      [&] { return RunCommand(name, parsed->options, environment, refuse); });
  TellResult(result_path, exit_code);
  return exit_code;
}

// Runs a command line in the syntax of another launcher. If that line runs a
// program, its translation into flags of `launch` begins with a flag, so that
// the program's name is never taken for a subcommand.
int LaunchAs(const CalledAs& called) {
  const Voice voice(called.name.c_str(), Talk::kAll);
  const absl::StatusOr<OwnLine> line =
      ReadOwnLine(called, FlagsOf(FlagUser::kLaunchOnly));
  if (!line.ok()) {
    return voice.Refuse(WithFrontendFlagNames(called.frontend, line.status()));
  }
  if (line->asks_help) return Print(line->help);
  for (const std::string& remark : line->remarks) voice.Notice(remark);
  for (const auto& [name, value] : line->variables) {
    setenv(name.c_str(), value.c_str(), /*overwrite=*/1);
  }
  return LaunchFor(called, line->args);
}

}  // namespace
}  // namespace muster::launcher

int main(int argc, char** argv) {
  return muster::launcher::StartProgram("launch", argc, argv, [&] {
    if (muster::launcher::IsSshNode(argc, argv))
      return muster::launcher::RunSshNode();
    const muster::launcher::CalledAs called = muster::launcher::DetectFrontend(
        argc > 0 ? argv[0] : "", {argv + std::min(argc, 1), argv + argc});
    return called.frontend == muster::launcher::Frontend::kLaunch
               ? muster::launcher::LaunchFor(called, called.args)
               : muster::launcher::LaunchAs(called);
  });
}
