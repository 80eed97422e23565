#include "launcher/slurm/srun_command.h"

#include <algorithm>
#include <array>
#include <optional>

#include "absl/strings/str_cat.h"
#include "launcher/cluster/slurm/slurm_place.h"
#include "launcher/options/command_line.h"
#include "launcher/options/option_values.h"

namespace muster::launcher {
namespace {

// Variables that are removed from srun's environment. Slurm sets these
// variables in a batch script, to the values that the script requested for its
// tasks. If srun inherited them, it would start a wrong number of tasks, or
// give the single task of a node only a part of the node.
constexpr std::array kOfTasks = {
    "SLURM_ARBITRARY_NODELIST",
    "SLURM_CPUS_PER_GPU",
    "SLURM_CPUS_PER_TASK",
    "SLURM_CPU_BIND",
    "SLURM_DISTRIBUTION",
    "SLURM_GPUS_PER_SOCKET",
    "SLURM_GPUS_PER_TASK",
    "SLURM_GPU_BIND",
    "SLURM_HOSTFILE",
    "SLURM_MEM_BIND",
    "SLURM_NPROCS",
    "SLURM_NTASKS",
    "SLURM_NTASKS_PER_CORE",
    "SLURM_NTASKS_PER_GPU",
    "SLURM_NTASKS_PER_NODE",
    "SLURM_NTASKS_PER_SOCKET",
    "SLURM_THREADS_PER_CORE",
    "SLURM_TRES_PER_TASK",
    "SRUN_CPUS_PER_TASK",
};

// Parses a list of the numbers of tasks per node, and returns the number for
// the first node: 4 for "4" or "4(x2)". 0: not a number.
int FirstPerNode(const std::string& text) {
  const absl::StatusOr<int64_t> number =
      ReadNumber(text.substr(0, text.find_first_of("(,")), 1, 4096);
  return number.ok() ? static_cast<int>(*number) : 0;
}

// The command line of `launch --slurm`, parsed.
struct SlurmCommandLine {
  // all arguments of the command line except --slurm
  std::vector<std::string> kept;
  CommandLine line;
};

absl::StatusOr<SlurmCommandLine> ReadSlurmCommandLine(
    const std::vector<Flag>& flags, const std::vector<std::string>& args) {
  absl::StatusOr<CommandLine> line = ParseCommandLine(flags, args);
  if (!line.ok()) return line.status();
  SlurmCommandLine own;
  const size_t end = args.size() - line->rest.size();
  for (size_t i = 0; i < args.size(); ++i) {
    const bool is_slurm =
        i < end && (args[i] == "--slurm" || args[i].rfind("--slurm=", 0) == 0);
    if (!is_slurm) own.kept.push_back(args[i]);
  }
  own.line = *std::move(line);
  return own;
}

// Adds the flags that choose the nodes of the Slurm step, with one task on each
// node. Nodes beyond the maximum of --nnodes belong to the step too, and become
// spares. With --nnodes=1 the step has one node: on several nodes, each agent
// would run a job of its own.
void AddNodes(const RunOptions& options, bool is_nnodes_given,
              const SlurmEnvironment& environment, const SlurmPlace& place,
              std::vector<std::string>& argv) {
  const absl::StatusOr<int64_t> components =
      ReadNumber(SlurmValue(environment, "SLURM_HET_SIZE"), 2, 128);
  const bool is_one = is_nnodes_given && options.spec.max_nodes == 1;
  if (components.ok() && !is_one) {
    argv.push_back(absl::StrCat("--het-group=0-", *components - 1));
  } else {
    const int nodes = is_one ? 1 : place.nodes;
    argv.push_back(absl::StrCat("--nodes=", nodes));
    argv.push_back(absl::StrCat("--ntasks=", nodes));
  }
  argv.emplace_back("--ntasks-per-node=1");
}

}  // namespace

absl::StatusOr<SrunCommand> PlanSrun(
    const std::vector<Flag>& flags, const std::vector<std::string>& args,
    const RunOptions& options,
    const std::map<std::string, std::string>& environment,
    const std::string& program, const std::string& step_name) {
  if (SlurmValue(environment, "SLURM_JOB_ID").empty()) {
    return absl::InvalidArgumentError(
        "--slurm: this is no Slurm job (SLURM_JOB_ID is not set); run it in a "
        "batch script or in salloc's shell");
  }
  const absl::StatusOr<SlurmPlace> place = ReadSlurmPlace(environment);
  if (!place.ok()) return place.status();
  const absl::StatusOr<SlurmCommandLine> own =
      ReadSlurmCommandLine(flags, args);
  if (!own.ok()) return own.status();
  const auto is_given = [&](const char* flag, const char* pet) {
    return own->line.values.count(flag) > 0 ||
           !SlurmValue(environment, pet).empty();
  };
  SrunCommand command;
  command.argv = {"srun", "--job-name=" + step_name};
  AddNodes(options, is_given("nnodes", "PET_NNODES"), environment, *place,
           command.argv);
  // The coordinator, not Slurm, decides what happens when a node is lost or a
  // worker fails. srun must not bind cores, because the agents bind workers to
  // cores.
  for (const char* flag : {"--kill-on-bad-exit=0", "--wait=0", "--no-kill",
                           "--cpu-bind=none", "--input=none"}) {
    command.argv.emplace_back(flag);
  }
  const std::string gpus = SlurmValue(environment, "SLURM_GPUS_ON_NODE");
  if (!SlurmValue(environment, "SLURM_GPUS_PER_TASK").empty()) {
    command.argv.push_back("--gpus-per-node=" + gpus);
    // Do not bind GPUs, so that the node's single task sees all GPUs. By
    // default Slurm divides the GPUs among the tasks that the job requested.
    command.argv.emplace_back("--gpu-bind=none");
  }
  command.argv.push_back(program);
  // If the batch script requested several tasks on each node and no GPUs, each
  // node gets as many workers as tasks.
  const int tasks =
      FirstPerNode(SlurmValue(environment, "SLURM_NTASKS_PER_NODE"));
  if (gpus.empty() && tasks > 1 &&
      !is_given("nproc-per-node", "PET_NPROC_PER_NODE")) {
    command.argv.push_back(absl::StrCat("--nproc-per-node=", tasks));
  }
  command.argv.insert(command.argv.end(), own->kept.begin(), own->kept.end());
  for (const auto& [name, value] : environment) {
    const bool is_of_tasks =
        std::find(kOfTasks.begin(), kOfTasks.end(), name) != kOfTasks.end();
    if (!is_of_tasks) {
      command.environment.push_back(absl::StrCat(name, "=", value));
    }
  }
  return command;
}

}  // namespace muster::launcher
