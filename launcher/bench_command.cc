#include "launcher/bench_command.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/ignored_signals.h"
#include "base/subprocess.h"
#include "launcher/bench_plan.h"
#include "launcher/options/flag_table.h"
#include "launcher/options/run_options.h"
#include "launcher/run_command.h"
#include "trainer_sdk/bench/bench_options.h"

namespace muster::launcher {
namespace {

// The exit code that Voice::Refuse returns for wrong arguments.
constexpr int kWrongUsage = 2;

absl::StatusOr<std::string> FindProgram(
    const std::map<std::string, std::string>& environment) {
  std::error_code error;
  const std::vector<std::string> paths =
      BenchProgramPaths(environment, OwnProgram());
  for (const std::string& path : paths) {
    if (access(path.c_str(), X_OK) == 0) {
      return std::filesystem::absolute(path, error).lexically_normal().string();
    }
  }
  return absl::NotFoundError(absl::StrCat(
      "bench: the measuring program is not at ", absl::StrJoin(paths, ", "),
      "; build //trainer_sdk/bench:muster-bench, or set MUSTER_BENCH"));
}

int Become(const std::string& program, std::vector<std::string> arguments,
           const Voice& voice) {
  arguments.insert(arguments.begin(), program);
  const std::vector<char*> argv = ExecPointers(arguments);
  RestoreFileSizeSignal();
  execv(program.c_str(), argv.data());
  return voice.Refuse(absl::PermissionDeniedError(
      absl::StrCat("bench: ", program, ": ", std::strerror(errno))));
}

}  // namespace

int BenchCommand(const std::vector<std::string>& arguments,
                 const std::map<std::string, std::string>& environment,
                 const Voice& voice) {
  const absl::StatusOr<std::string> program = FindProgram(environment);
  const absl::StatusOr<BenchPlan> plan =
      PlanBench(arguments, environment, program.ok() ? *program : "");
  if (absl::IsInvalidArgument(plan.status())) {
    // The message names `launch bench --help`. Voice::Refuse would name `launch
    // --help`, which does not list the flags of the bench.
    voice.Error(absl::StrCat(std::string(plan.status().message()),
                             " (see launch bench --help)"));
    return kWrongUsage;
  }
  if (!plan.ok()) return voice.Refuse(plan.status());
  if (plan->way == BenchPlan::Way::kHelp) {
    return Print(BenchHelp());
  }
  if (!program.ok()) return voice.Refuse(program.status());
  if (plan->way == BenchPlan::Way::kWorker) {
    return Become(*program, plan->arguments, voice);
  }
  const absl::StatusOr<ParsedOptions> parsed = ParseRunOptions(
      FlagsOf(FlagUser::kLaunchOnly), plan->arguments, environment);
  if (!parsed.ok()) return voice.Refuse(parsed.status());
  const absl::Status root = CheckRoot(*plan, parsed->options);
  if (!root.ok()) {
    voice.Error(absl::StrCat(std::string(root.message()),
                             " (see launch bench --help)"));
    return kWrongUsage;
  }
  return RunCommand(
      "launch", parsed->options, environment,
      [&voice](const absl::Status& why) { return voice.Refuse(why); });
}

}  // namespace muster::launcher
