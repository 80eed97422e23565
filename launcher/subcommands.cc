#include "launcher/subcommands.h"

#include "launcher/options/flag_table.h"

namespace muster::launcher {

const std::vector<Subcommand>& Subcommands() {
  using enum SubcommandFlags;
  static const std::vector<Subcommand>& table = *new std::vector<Subcommand>{
      {.name = "status",
       .arguments = "[RUN_ID]",
       .summary = "Show the coordinator's jobs, or one with its nodes.",
       .usage = "status|watch|top|cancel|drain [FLAGS]",
       .purpose = "look at or steer a running job",
       .flags = kAdmin},
      {.name = "watch",
       .arguments = "[RUN_ID]",
       .summary = "Show a job's decisions and progress until it ends.",
       .flags = kAdmin},
      {.name = "top",
       .arguments = "[RUN_ID]",
       .summary = "Show a job and its ranks in a terminal, live.",
       .flags = kAdmin},
      {.name = "logs",
       .arguments = "[RUN_ID]",
       .summary = "Print the newest output of a job's ranks.",
       .usage = "logs|stacks [FLAGS]",
       .purpose = "see what each rank does",
       .flags = kAdmin},
      {.name = "stacks",
       .arguments = "[RUN_ID]",
       .summary = "Show where each rank of a job is right now.",
       .flags = kAdmin},
      {.name = "cancel",
       .arguments = "[RUN_ID]",
       .summary = "End a job, with grace, on all its nodes.",
       .flags = kAdmin},
      {.name = "drain",
       .arguments = "NODE",
       .summary = "Take one node out of a job, which goes on.",
       .flags = kAdmin},
      {.name = "nodes",
       .arguments = "[--free HOST | --ban HOST]",
       .summary = "List machines with faults; free or ban one.",
       .usage = "nodes [--free HOST | --ban HOST]",
       .purpose = "see or judge machines with faults",
       .flags = kAdmin},
      {.name = "inspect",
       .arguments = "DUMPS...",
       .summary = "Find who holds up a job, from its flight recorders.",
       .usage = "inspect DUMPS...",
       .purpose = "find who holds up a job's workers",
       .completions = "<file>"},
      {.name = "report",
       .arguments = "[FLAGS] [RUN...]",
       .summary = "Write an HTML file about a run, from its files.",
       .usage = "report [FLAGS] [RUN...]",
       .purpose = "see what happened in a run",
       .completions = "<file>"},
      {.name = "doctor",
       .arguments = "[--nodes] [FLAGS]",
       .summary = "Find what keeps a node, or a job's, from training.",
       .usage = "doctor [--nodes] [FLAGS]",
       .purpose = "find what keeps nodes from training",
       .flags = kDoctor},
      {.name = "bench",
       .arguments = "[FLAGS] OPERATION",
       .summary = "Measure collectives with nccl-tests' columns.",
       .usage = "bench [FLAGS] OPERATION [OPTIONS]",
       .purpose = "measure a collective",
       .flags = kRun},
      {.name = "token",
       .arguments = "[FLAGS]",
       .summary = "Print a job's secret, or a token derived from one.",
       .usage = "token [FLAGS]",
       .purpose = "make a job's secret",
       .completions =
           "--role --job --name --valid-for --token-file --endpoint"},
      {.name = "config",
       .arguments = "[show] [FILE]",
       .summary = "Write a configuration file, or explain one.",
       .usage = "config [FILE] | show FILE",
       .purpose = "write or explain a --config file",
       .completions = "<file>"},
      {.name = "completion",
       .arguments = "bash|zsh|fish",
       .summary = "Print a shell's completion script.",
       .usage = "completion bash|zsh|fish",
       .purpose = "print a completion script",
       .completions = "bash zsh fish"},
  };
  return table;
}

std::vector<Flag> AdminFlags() {
  constexpr PetVariable kNone = PetVariable::kNone;
  std::vector<Flag> flags = {
      {.name = "endpoint",
       .value = "HOST[:PORT],...",
       .help = "The coordinator; of several endpoints the first that answers, "
               "for which the command waits up to 5 s. "
               "Not given: --slurm-job's, else "
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
               "environment does the same. The secret that a job of one node "
               "has made is found for its user on its machine.",
       .completions = "<file>",
       .pet = kNone},
      {.name = "rank",
       .value = "RANKS",
       .help = "Only these ranks, such as 3 or 0-3,8 (logs, stacks).",
       .pet = kNone},
      {.name = "node",
       .value = "NODE",
       .help = "Only the ranks of this node, a host name or node id (logs, "
               "stacks).",
       .pet = kNone},
      {.name = "lines",
       .letter = 'n',
       .value = "N",
       .default_text = "10",
       .help = "The number of newest lines of each rank, or all. The nodes "
               "keep the newest 128 KiB of each worker's output in memory, "
               "over all rounds, whether or not --log-dir is given (logs).",
       .pet = kNone},
      {.name = "since",
       .value = "TIME",
       .help = "Only lines that came to their node in this time before now, "
               "such as 90s, 5m or 2h: without --lines, all of them. Lines of "
               "output have no time of their own (logs).",
       .pet = kNone},
      {.name = "grep",
       .value = "PATTERN",
       .help = "Only lines that match this regular expression (RE2); the nodes "
               "search (logs).",
       .pet = kNone},
      {.name = "follow",
       .letter = 'f',
       .help = "Also print new lines, over all rounds, until the job ends "
               "(logs).",
       .pet = kNone},
      {.name = "native",
       .help = "Also read native frames with gdb, which stops each process for "
               "a moment, often for seconds (stacks).",
       .pet = kNone},
      {.name = "free",
       .value = "HOST",
       .help = "Declare the faults of this machine void, and lift its ban "
               "(nodes).",
       .pet = kNone},
      {.name = "ban",
       .value = "HOST",
       .help = "Give nodes of this machine no place in any round, until it is "
               "freed; a running round goes on (nodes).",
       .pet = kNone},
      {.name = "reason",
       .value = "TEXT",
       .help = "Why the machine is banned (nodes).",
       .pet = kNone},
      {.name = "json",
       .help = "Print JSON, for programs (status, watch, nodes).",
       .pet = kNone},
      {.name = "help", .letter = 'h', .help = "Show this text.", .pet = kNone},
  };
  const std::vector<Flag> tls = TlsFlags();
  flags.insert(flags.end() - 2, tls.begin(), tls.end());
  return flags;
}

const Subcommand* FindSubcommand(const std::string& argument) {
  for (const Subcommand& subcommand : Subcommands()) {
    if (argument == subcommand.name) return &subcommand;
  }
  return nullptr;
}

}  // namespace muster::launcher
