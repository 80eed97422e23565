// `launch`: see docs/CLI.md.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "agent/dialects/dialect_process.h"
#include "agent/init_process.h"
#include "agent/nccl_id/nccl_id_process.h"
#include "agent/options/flag_table.h"
#include "agent/options/read_machine.h"
#include "agent/options/run_options.h"
#include "agent/voice.h"
#include "base/file_size_signal.h"
#include "base/resource_room.h"
#include "base/standard_descriptors.h"
#include "launcher/admin_command.h"
#include "launcher/admin_request.h"
#include "launcher/bench_command.h"
#include "launcher/completion.h"
#include "launcher/config/config_command.h"
#include "launcher/config/config_defaults.h"
#include "launcher/doctor/doctor_command.h"
#include "launcher/inspect_command.h"
#include "launcher/launch_help.h"
#include "launcher/personality/own_line.h"
#include "launcher/personality/personality.h"
#include "launcher/run_command.h"
#include "launcher/slurm/job_result.h"
#include "launcher/slurm/slurm_command.h"
#include "launcher/ssh/ssh_node.h"
#include "launcher/ssh/starter_pipes.h"
#include "launcher/subcommands.h"
#include "rendezvous/protocol/report.h"
#include "rendezvous/version.h"

namespace muster {
namespace {

int Print(const std::string& text) {
  return std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0 ? 0
                                                                           : 1;
}

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

// `args`: our own words, whoever is called.
int LaunchFor(const CalledAs& called, const std::vector<std::string>& args) {
  RemoteOptions starter;
  TakeStarterPipes(starter);
  const std::string name = TakeCalledName(called.name);
  const std::string result_path = TakeResultPath();
  const std::map<std::string, std::string> environment = ReadEnvironment();
  const Voice voice(name.c_str(), Talk::kAll);
  const LaunchFunction launch = [](const std::vector<std::string>& own) {
    return LaunchFor({.args = own, .name = "launch"}, own);
  };
  if (!args.empty() && args[0] == "completion") {
    return CompletionCommand({args.begin() + 1, args.end()}, voice);
  }
  if (!args.empty() && args[0] == "bench") {
    return BenchCommand({args.begin() + 1, args.end()}, environment, voice);
  }
  if (!args.empty() && args[0] == "config") {
    return ConfigCommand({args.begin() + 1, args.end()},
                         FlagsOf(FlagUser::kLaunchOnly), environment, voice);
  }
  if (!args.empty() && args[0] == "doctor") {
    return DoctorCommand({args.begin() + 1, args.end()}, environment, launch,
                         voice);
  }
  if (!args.empty() && args[0] == "inspect") {
    return InspectCommand({args.begin() + 1, args.end()}, voice);
  }
  if (!args.empty() && IsSubcommand(args[0])) {
    const absl::StatusOr<AdminRequest> request =
        ParseAdminRequest(args, environment);
    return request.ok() ? AdminCommand(*request, voice)
                        : voice.Refuse(request.status(), args[0]);
  }
  absl::StatusOr<ParsedOptions> parsed = ParseRunOptions(
      FlagsOf(FlagUser::kLaunchOnly), args, environment,
      LaunchDefaults(FlagsOf(FlagUser::kLaunchOnly), environment));
  const auto refuse = [&](const absl::Status& why) {
    return voice.Refuse(InCallersWords(called.personality, why));
  };
  if (!parsed.ok()) return refuse(parsed.status());
  parsed->options.remote.endpoint_fd = starter.endpoint_fd;
  parsed->options.remote.verdict_fd = starter.verdict_fd;
  if (starter.verdict_fd >= 0) parsed->options.cluster = Cluster::kHostFile;
  if (starter.telling != Telling::kAlone) {
    parsed->options.telling = starter.telling;
  }
  switch (parsed->request) {
    case Request::kHelp:
      return Print(LaunchHelp());
    case Request::kVersion:
      return Print(absl::StrCat("launch (muster) ", kVersion, ", protocol ",
                                kProtocolVersion, "\n"));
    case Request::kCompletion:
      return PrintCompletion("--print-completion: ", parsed->shell,
                             called.personality == Personality::kLaunch
                                 ? CompletedCommand::kLaunch
                                 : CompletedCommand::kTorchrun,
                             voice);
    case Request::kRun:
      break;
  }
  if (parsed->options.remote.start == RemoteStart::kSlurm) {
    return SlurmCommand(name, args, parsed->options, environment);
  }
  const int exit_code = RunAsInit(
      [&] { return RunCommand(name, parsed->options, environment, refuse); });
  TellResult(result_path, exit_code);
  return exit_code;
}

// Another launcher's command line. In our words it begins with a flag where it
// runs a program, so that this is never taken for a subcommand.
int LaunchAs(const CalledAs& called) {
  const Voice voice(called.name.c_str(), Talk::kAll);
  const absl::StatusOr<OwnLine> line =
      ReadOwnLine(called, FlagsOf(FlagUser::kLaunchOnly));
  if (!line.ok()) {
    return voice.Refuse(InCallersWords(called.personality, line.status()));
  }
  if (line->asks_help) return Print(line->help);
  for (const std::string& remark : line->remarks) voice.Notice(remark);
  for (const auto& [name, value] : line->variables) {
    setenv(name.c_str(), value.c_str(), /*overwrite=*/1);
  }
  return LaunchFor(called, line->args);
}

}  // namespace
}  // namespace muster

int main(int argc, char** argv) {
  muster::IgnoreFileSizeSignal();
  muster::OpenStandardDescriptors();
  muster::LiveWithinAddressSpace();
  muster::TellWhatRanOut("launch");
  if (muster::IsNcclIdProcess(argc, argv)) return muster::RunNcclIdProcess();
  if (muster::IsDialectProcess(argc, argv)) {
    return muster::RunDialectProcess(argv);
  }
  if (muster::IsSshNode(argc, argv)) return muster::RunSshNode();
  const muster::CalledAs called = muster::WhoIsCalled(
      argc > 0 ? argv[0] : "", {argv + std::min(argc, 1), argv + argc});
  return called.personality == muster::Personality::kLaunch
             ? muster::LaunchFor(called, called.args)
             : muster::LaunchAs(called);
}
