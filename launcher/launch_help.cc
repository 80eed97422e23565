#include "launcher/launch_help.h"

#include "absl/strings/str_cat.h"
#include "launcher/options/flag.h"
#include "launcher/options/flag_table.h"
#include "launcher/subcommands.h"

namespace muster::launcher {
namespace {

constexpr char kHead[] =
    R"(launch: run a job's workers on this node, together with the other nodes

Usage:
  launch [FLAGS] PROGRAM [ARGUMENTS]
)";

constexpr char kIntroduction[] =
    R"(
PROGRAM runs once for each worker. A *.py file (or a module, with -m) runs
under Python, $PYTHON_EXEC or python3; anything else is executed. Everything
after PROGRAM belongs to it. Flags are torchrun's, with dashes or underscores;
PET_<NAME> in the environment is a flag's default, such as PET_NNODES=2.

)";

std::string Padded(const std::string& text, size_t width) {
  return text.size() < width ? text + std::string(width - text.size(), ' ')
                             : text + " ";
}

}  // namespace

std::vector<std::pair<std::string, std::string>> Examples() {
  return {
      {"launch --standalone --nproc-per-node=gpu train.py --lr=0.1",
       "One node, one worker for each GPU."},
      {"launch --nnodes=2 --nproc-per-node=8 --rdzv-endpoint=node1 train.py",
       "Two nodes. Run the same on both; node1 hosts the coordinator."},
      {"launch --nnodes=2:4 --max-restarts=3 --rdzv-id=job7 "
       "--rdzv-endpoint=node1:29400 --log-dir=logs train.py",
       "Two to four nodes that may come and go; three failures are survived."},
      {"launch --nnodes=2 --node-rank=1 --master-addr=node1 --no-python "
       "./solver",
       "A static job: every node says its rank; rank 0's is node1."},
      {"launch status --endpoint=node1:29400",
       "Show the jobs of a coordinator with their nodes and reasons."},
  };
}

std::vector<std::pair<std::string, std::string>> ExitCodes() {
  return {
      {"0", "The job succeeded, or this node left it as asked."},
      {"1",
       "The job ended for another reason than a worker's exit, or this "
       "node was refused."},
      {"2",
       "The command line, the environment or the script is wrong; nothing "
       "was started."},
      {"69",
       "The job succeeded, and this node stayed a spare: its program never "
       "ran. 0 instead in a Slurm job, in a pod and with --hostfile, where "
       "another code would make the whole job fail."},
      {"70",
       "The process that starts this node's workers was killed, or the "
       "connection to the launch --hostfile that started this node was lost. "
       "The job may go on without the node."},
      {"75",
       "The cluster took the nodes away (--signals-to-preempt): the job is to "
       "be tried again."},
      {"126", "The program cannot be executed."},
      {"127", "The program was not found."},
      {"128+N",
       "A worker was killed by signal N, or the job was stopped by it."},
      {"other", "The exit code of the worker that failed first."},
  };
}

std::string LaunchHelp() {
  std::string text = kHead;
  for (const Subcommand& subcommand : Subcommands()) {
    if (subcommand.usage == nullptr) continue;
    absl::StrAppend(&text, "  launch ", Padded(subcommand.usage, 36),
                    subcommand.purpose, "\n");
  }
  absl::StrAppend(&text, kIntroduction);
  absl::StrAppend(&text, FlagHelp(FlagsOf(FlagUser::kLaunchOnly)));
  absl::StrAppend(&text, "\nSub-commands (see launch status --help):\n");
  for (const Subcommand& subcommand : Subcommands()) {
    absl::StrAppend(
        &text, "  ",
        Padded(absl::StrCat(subcommand.name, " ", subcommand.arguments), 26),
        subcommand.summary, "\n");
  }
  absl::StrAppend(&text, "\nExamples:\n");
  for (const auto& [command, meaning] : Examples()) {
    absl::StrAppend(&text, Filled(meaning, 2, 80));
    // A command that does not fit into one line gets a backslash at the end of
    // each line but the last, so that a user can paste the command.
    std::string lines = Filled(command, 6, 76);
    for (size_t end = lines.find('\n'); end + 1 < lines.size();
         end = lines.find('\n', end + 3)) {
      lines.insert(end, " \\");
    }
    absl::StrAppend(&text, lines);
  }
  absl::StrAppend(&text, "\nExit status:\n");
  for (const auto& [code, meaning] : ExitCodes()) {
    const std::string filled = Filled(meaning, 9, 80);
    absl::StrAppend(&text, "  ", Padded(code, 7), filled.substr(9));
  }
  return text;
}

std::string AdminHelp() {
  std::string text = "Usage:\n";
  for (const Subcommand& subcommand : Subcommands()) {
    if (subcommand.flags != SubcommandFlags::kAdmin) continue;
    absl::StrAppend(&text, "  ", "launch ", subcommand.name, " [FLAGS] ",
                    subcommand.arguments, "\n",
                    Filled(subcommand.summary, 6, 80));
  }
  return absl::StrCat(text, "\n", FlagHelp(AdminFlags()));
}

}  // namespace muster::launcher
