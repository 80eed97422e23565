#include "launcher/frontend/deepspeed_flags.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace muster::launcher {
namespace {

using enum FlagKind;

constexpr Flag Row(const char* name, char letter, FlagKind kind,
                   const char* placeholder, FlagGroup group, const char* help) {
  return {name,  letter,
          kind,  placeholder,
          "",    PetVariable::kNone,
          group, FlagUser::kLaunchOnly,
          "",    help};
}

constexpr Flag kFlags[] = {
    Row("hostfile", 'H', kValue, "FILE", FlagGroup::kRemote,
        "Hosts with their slots; /job/hostfile if it is there. launch "
        "--hostfile."),
    Row("include", 'i', kValue, "HOSTS", FlagGroup::kRemote,
        "Of the hosts these and their slots. launch --include."),
    Row("exclude", 'e', kValue, "HOSTS", FlagGroup::kRemote,
        "Of the hosts all but these. launch --exclude."),
    Row("num-nodes", 0, kValue, "N", FlagGroup::kRemote,
        "The first N hosts. launch --nnodes."),
    Row("num-gpus", 0, kValue, "N", FlagGroup::kWorkers,
        "Workers on each node, on GPUs 0 to N-1. launch --nproc-per-node."),
    Row("num-accelerators", 0, kValue, "N", FlagGroup::kWorkers,
        "The same as --num_gpus."),
    Row("master-port", 0, kValue, "PORT", FlagGroup::kCluster,
        "Where the workers of one node, or the nodes with --no_ssh, meet."),
    Row("master-addr", 0, kValue, "HOST", FlagGroup::kCluster,
        "The first node's address."),
    Row("node-rank", 0, kValue, "N", FlagGroup::kCluster,
        "This node's place among the hosts, with --no_ssh."),
    Row("launcher", 0, kValue, "NAME", FlagGroup::kRemote,
        "slurm: launch --slurm; every other one: ssh."),
    Row("launcher-args", 0, kValue, "TEXT", FlagGroup::kRemote,
        "Without effect: launch starts the nodes itself; see --ssh-args."),
    Row("module", 0, kSwitch, "", FlagGroup::kWorkers,
        "The program is a Python module."),
    Row("no-python", 0, kSwitch, "", FlagGroup::kWorkers,
        "Execute the program itself."),
    Row("no-local-rank", 0, kSwitch, "", FlagGroup::kWorkers,
        "The program does not find --local_rank=N."),
    Row("no-ssh", 0, kSwitch, "", FlagGroup::kRemote,
        "The same command is started on each node by somebody else."),
    Row("no-ssh-check", 0, kSwitch, "", FlagGroup::kRemote,
        "Without effect: every host is reached once."),
    Row("force-multi", 0, kSwitch, "", FlagGroup::kRemote,
        "Start over ssh even a single host."),
    Row("save-pid", 0, kSwitch, "", FlagGroup::kOutput,
        "Refused: no file of process ids is written."),
    Row("enable-each-rank-log", 0, kValue, "DIR", FlagGroup::kOutput,
        "Each rank's output goes to a file, not to the console. launch "
        "--log-dir with --redirects 3."),
    Row("autotuning", 0, kValue, "HOW", FlagGroup::kWorkers,
        "Refused: DeepSpeed's own launcher tunes."),
    Row("bind-cores-to-rank", 0, kSwitch, "", FlagGroup::kWorkers,
        "Each rank its own cores. launch --numa-binding exclusive."),
    Row("bind-core-list", 0, kValue, "LIST", FlagGroup::kWorkers,
        "Refused: start launch under taskset with this list."),
    Row("ssh-port", 0, kValue, "PORT", FlagGroup::kRemote,
        "launch --ssh-args '-p PORT'."),
    Row("venv-script", 0, kValue, "FILE", FlagGroup::kRemote,
        "Refused: give PYTHON_EXEC, the interpreter in that environment."),
    Row("log-level", 0, kValue, "LEVEL", FlagGroup::kOutput,
        "error, critical: launch --quiet; the others have no effect."),
    Row("quiet", 'q', kSwitch, "", FlagGroup::kOutput, "launch --quiet."),
    Row("help", 'h', kSwitch, "", FlagGroup::kGeneral, "Show this text."),
};

}  // namespace

std::vector<Flag> DeepSpeedFlags() {
  return {std::begin(kFlags), std::end(kFlags)};
}

absl::Status InDeepSpeedsWords(const absl::Status& error) {
  std::vector<std::pair<std::string, std::string>> words = {
      {"--nproc-per-node", "--num_gpus"}, {"--nnodes", "--num_nodes"}};
  for (const Flag& flag : kFlags) {
    const std::string ours = absl::StrCat("--", flag.name);
    words.emplace_back(
        ours, absl::StrCat("--", absl::StrReplaceAll(flag.name, {{"-", "_"}})));
  }
  return {error.code(), absl::StrReplaceAll(error.message(), words)};
}

}  // namespace muster::launcher
