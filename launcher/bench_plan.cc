#include "launcher/bench_plan.h"

#include "absl/strings/str_cat.h"
#include "base/environment_value.h"
#include "launcher/options/command_line.h"
#include "launcher/options/flag_table.h"
#include "launcher/options/option_values.h"
#include "trainer_sdk/bench/bench_options.h"

namespace muster::launcher {
namespace {

absl::Status Named(const absl::Status& status) {
  return absl::Status(status.code(),
                      absl::StrCat("bench: ", std::string(status.message())));
}

bool AsksForHelp(const std::vector<std::string>& arguments) {
  for (const std::string& argument : arguments) {
    if (argument == "--help" || argument == "-h") return true;
  }
  return false;
}

}  // namespace

bool IsWorker(const std::map<std::string, std::string>& environment) {
  for (const char* name : {"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK"}) {
    if (NonEmptyEnvironmentValue(environment, name)) return true;
  }
  return NonEmptyEnvironmentValue(environment, "SLURM_PROCID") &&
         NonEmptyEnvironmentValue(environment, "SLURM_STEP_ID");
}

absl::StatusOr<BenchPlan> PlanBench(
    const std::vector<std::string>& arguments,
    const std::map<std::string, std::string>& environment,
    const std::string& program) {
  BenchPlan plan;
  if (AsksForHelp(arguments)) {
    plan.way = BenchPlan::Way::kHelp;
    return plan;
  }
  std::vector<std::string> own = arguments;
  if (IsWorker(environment)) {
    plan.way = BenchPlan::Way::kWorker;
    plan.arguments = arguments;
  } else {
    const absl::StatusOr<CommandLine> line =
        ParseCommandLine(FlagsOf(FlagUser::kLaunchOnly), arguments);
    if (!line.ok()) return Named(line.status());
    own = line->rest;
    plan.arguments.assign(arguments.begin(), arguments.end() - own.size());
    plan.arguments.push_back("--no-python");
    plan.arguments.push_back(program);
    plan.arguments.insert(plan.arguments.end(), own.begin(), own.end());
  }
  // Check the bench's own arguments here, so that an error is printed once and
  // not by every worker.
  const absl::StatusOr<BenchOptions> options = ParseBenchOptions(own);
  if (!options.ok()) return Named(options.status());
  plan.root = options->root;
  return plan;
}

absl::Status CheckRoot(const BenchPlan& plan, const RunOptions& options) {
  const absl::StatusOr<int64_t> workers =
      ReadNumber(options.workers_per_node, 1, 4096);
  // Accept a root below the size of the largest possible world, which has
  // options.spec.max_nodes nodes. Accept every root if the number of workers is
  // not known here.
  if (!workers.ok() || plan.root < *workers * options.spec.max_nodes) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("bench: -r ", plan.root, ": the job has ranks 0 to ",
                   *workers * options.spec.max_nodes - 1));
}

std::vector<std::string> BenchProgramPaths(
    const std::map<std::string, std::string>& environment,
    const std::string& launch_path) {
  if (const auto named =
          NonEmptyEnvironmentValue(environment, "MUSTER_BENCH")) {
    return {*named};
  }
  const size_t slash = launch_path.rfind('/');
  const std::string folder =
      slash == std::string::npos ? "." : launch_path.substr(0, slash);
  return {folder + "/muster-bench",
          folder + "/../trainer_sdk/bench/muster-bench"};
}

}  // namespace muster::launcher
