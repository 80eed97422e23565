#include "launcher/frontend/torch_line.h"

#include <algorithm>

#include "launcher/options/command_line.h"

namespace muster::launcher {
namespace {

constexpr char kUseEnv[] = "use-env";

bool Holds(const CommandLine& line, const std::string& name) {
  const auto found = line.values.find(name);
  return found != line.values.end() && found->second.back() != "0";
}

// Adds --stdin=all, so that all workers read stdin as under torchrun. Does
// nothing with --hostfile or --slurm, because agents on other hosts have no
// stdin.
void GiveStdinToAllWorkers(const CommandLine& line, OwnLine& own) {
  for (const char* flag : {"hostfile", "slurm"}) {
    if (line.values.count(flag) > 0) return;
  }
  own.args.emplace_back("--stdin=all");
}

// Adds --cluster=none: torchrun does not read a cluster's variables, so a flag
// that is not given has torchrun's default, even in a Slurm step. Does nothing
// if the user gives --cluster, --slurm or --config. torchrun does not have
// these flags, so the user wants the variables to be read.
void DisableClusterDefaults(const CommandLine& line, OwnLine& own) {
  for (const char* flag : {"cluster", "slurm", "config"}) {
    if (line.values.count(flag) > 0) return;
  }
  own.args.emplace_back("--cluster=none");
}

}  // namespace

absl::StatusOr<OwnLine> OwnLineOfTorchrun(
    const std::vector<Flag>& flags, const std::vector<std::string>& args) {
  // Parse the line before flags are added to it, so that an error quotes only
  // arguments of the user.
  const absl::StatusOr<CommandLine> line = ParseCommandLine(flags, args);
  if (!line.ok()) return line.status();
  OwnLine own;
  own.args.emplace_back("--python");
  GiveStdinToAllWorkers(*line, own);
  DisableClusterDefaults(*line, own);
  own.args.insert(own.args.end(), args.begin(), args.end());
  return own;
}

absl::StatusOr<OwnLine> OwnLineOfTorchLaunch(
    const std::vector<Flag>& flags, const std::vector<std::string>& args) {
  std::vector<Flag> all = flags;
  all.push_back({.name = kUseEnv, .pet = PetVariable::kNone});
  const absl::StatusOr<CommandLine> line = ParseCommandLine(all, args);
  if (!line.ok()) return line.status();
  if (Holds(*line, "no-python") && !Holds(*line, kUseEnv)) {
    return absl::InvalidArgumentError(
        "--no-python: torch.distributed.launch wants --use-env with it");
  }
  OwnLine own;
  own.args.emplace_back("--python");
  GiveStdinToAllWorkers(*line, own);
  DisableClusterDefaults(*line, own);
  if (!Holds(*line, kUseEnv)) {
    own.args.emplace_back("--local-rank-flag=local-rank");
  }
  const auto program =
      args.end() - static_cast<std::ptrdiff_t>(line->rest.size());
  std::copy_if(args.begin(), program, std::back_inserter(own.args),
               [](const std::string& arg) {
                 return arg.rfind("--use-env", 0) != 0 &&
                        arg.rfind("--use_env", 0) != 0;
               });
  own.args.insert(own.args.end(), program, args.end());
  return own;
}

}  // namespace muster::launcher
