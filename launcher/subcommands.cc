#include "launcher/subcommands.h"

namespace muster::launcher {

const std::vector<Subcommand>& Subcommands() {
  using enum SubcommandKind;
  static const std::vector<Subcommand>& table = *new std::vector<Subcommand>{
      {"status", "[RUN_ID]",
       "Show the coordinator's jobs, or one with its nodes.", kAdmin},
      {"watch", "[RUN_ID]",
       "Show a job's decisions and progress until it ends.", kAdmin},
      {"cancel", "[RUN_ID]", "End a job, with grace, on all its nodes.",
       kAdmin},
      {"drain", "NODE", "Take one node out of a job, which goes on.", kAdmin},
      {"inspect", "DUMPS...",
       "Find who holds up a job, from its flight recorders.", kInspect},
      {"doctor", "[--nodes] [FLAGS]",
       "Find what keeps a node, or a job's, from training.", kDoctor},
      {"bench", "[FLAGS] OPERATION",
       "Measure collectives with nccl-tests' columns.", kBench},
      {"config", "[show] [FILE]", "Write a configuration file, or explain one.",
       kConfig},
      {"completion", "bash|zsh|fish", "Print a shell's completion script.",
       kCompletion},
  };
  return table;
}

std::vector<Flag> AdminFlags() {
  constexpr PetVariable kNone = PetVariable::kNone;
  return {
      {.name = "endpoint",
       .value = "HOST[:PORT]",
       .help = "The coordinator. Not given: --slurm-job's, else "
               "MUSTER_COORDINATOR in "
               "the environment, else that of the Slurm job around this "
               "process, else "
               "127.0.0.1:29400.",
       .pet = kNone},
      {.name = "slurm-job",
       .value = "ID",
       .help =
           "The coordinator of this job of Slurm's, where squeue says that its "
           "launch runs.",
       .pet = kNone},
      {.name = "run-id",
       .value = "ID",
       .help = "The job. Not given: the coordinator's only one.",
       .pet = kNone},
      {.name = "token-file",
       .value = "FILE",
       .help = "A file that holds the job's shared secret; MUSTER_TOKEN in the "
               "environment does the same.",
       .completions = "<file>",
       .pet = kNone},
      {.name = "json",
       .help = "Print JSON, for programs (status, watch).",
       .pet = kNone},
      {.name = "help", .letter = 'h', .help = "Show this text.", .pet = kNone},
  };
}

const Subcommand* FindSubcommand(const std::string& argument) {
  for (const Subcommand& subcommand : Subcommands()) {
    if (argument == subcommand.name) return &subcommand;
  }
  return nullptr;
}

}  // namespace muster::launcher
