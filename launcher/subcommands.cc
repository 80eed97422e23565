#include "launcher/subcommands.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "launcher/options/flag_table.h"

namespace muster::launcher {

const std::vector<Subcommand>& Subcommands() {
  using enum SubcommandFlags;
  static const std::vector<Subcommand>& table = *new std::vector<Subcommand>{
      {.id = SubcommandId::kStatus,
       .name = "status",
       .arguments = "[RUN_ID]",
       .summary = "Show the coordinator's jobs, or one with its nodes.",
       .usage = "status|watch|top|cancel|drain [FLAGS]",
       .purpose = "look at or steer a running job",
       .flags = kAdmin},
      {.id = SubcommandId::kWatch,
       .name = "watch",
       .arguments = "[RUN_ID]",
       .summary = "Show a job's decisions and progress until it ends.",
       .flags = kAdmin},
      {.id = SubcommandId::kTop,
       .name = "top",
       .arguments = "[RUN_ID]",
       .summary = "Show a job and its ranks in a terminal, live.",
       .flags = kAdmin},
      {.id = SubcommandId::kLogs,
       .name = "logs",
       .arguments = "[RUN_ID]",
       .summary = "Print the newest output of a job's ranks.",
       .usage = "logs|stacks [FLAGS]",
       .purpose = "see what each rank does",
       .flags = kAdmin},
      {.id = SubcommandId::kStacks,
       .name = "stacks",
       .arguments = "[RUN_ID]",
       .summary = "Show where each rank of a job is right now.",
       .flags = kAdmin},
      {.id = SubcommandId::kCancel,
       .name = "cancel",
       .arguments = "[RUN_ID]",
       .summary = "End a job, with grace, on all its nodes.",
       .flags = kAdmin},
      {.id = SubcommandId::kDrain,
       .name = "drain",
       .arguments = "NODE",
       .summary = "Take one node out of a job, which goes on.",
       .flags = kAdmin},
      {.id = SubcommandId::kNodes,
       .name = "nodes",
       .arguments = "[--free HOST | --ban HOST]",
       .summary = "List machines with faults; free or ban one.",
       .usage = "nodes [--free HOST | --ban HOST]",
       .purpose = "see or judge machines with faults",
       .flags = kAdmin},
      {.id = SubcommandId::kInspect,
       .name = "inspect",
       .arguments = "DUMPS...",
       .summary = "Find who holds up a job, from its flight recorders.",
       .usage = "inspect DUMPS...",
       .purpose = "find who holds up a job's workers",
       .completions = "<file>"},
      {.id = SubcommandId::kReport,
       .name = "report",
       .arguments = "[FLAGS] [RUN...]",
       .summary = "Write an HTML file about a run, from its files.",
       .usage = "report [FLAGS] [RUN...]",
       .purpose = "see what happened in a run",
       .completions = "<file>"},
      {.id = SubcommandId::kDoctor,
       .name = "doctor",
       .arguments = "[--nodes] [FLAGS]",
       .summary = "Find what keeps a node, or a job's, from training.",
       .usage = "doctor [--nodes] [FLAGS]",
       .purpose = "find what keeps nodes from training",
       .flags = kDoctor},
      {.id = SubcommandId::kBench,
       .name = "bench",
       .arguments = "[FLAGS] OPERATION",
       .summary = "Measure collectives with nccl-tests' columns.",
       .usage = "bench [FLAGS] OPERATION [OPTIONS]",
       .purpose = "measure a collective",
       .flags = kRun},
      {.id = SubcommandId::kToken,
       .name = "token",
       .arguments = "[FLAGS]",
       .summary = "Print a job's secret, or a token derived from one.",
       .usage = "token [FLAGS]",
       .purpose = "make a job's secret",
       .completions =
           "--role --job --name --valid-for --token-file --endpoint"},
      {.id = SubcommandId::kConfig,
       .name = "config",
       .arguments = "[show] [FILE]",
       .summary = "Write a configuration file, or explain one.",
       .usage = "config [FILE] | show FILE",
       .purpose = "write or explain a --config file",
       .completions = "<file>"},
      {.id = SubcommandId::kCompletion,
       .name = "completion",
       .arguments = "bash|zsh|fish",
       .summary = "Print a shell's completion script.",
       .usage = "completion bash|zsh|fish",
       .purpose = "print a completion script",
       .completions = "bash zsh fish"},
  };
  return table;
}

const std::vector<AdminFlag>& AdminFlagTable() {
  constexpr PetVariable kNone = PetVariable::kNone;
  using enum SubcommandId;
  static const std::vector<AdminFlag>& table = *[] {
    auto* const rows = new std::vector<AdminFlag>{
        {.flag = {.name = "endpoint",
                  .value = "HOST[:PORT],...",
                  .help =
                      "The coordinator; of several endpoints the first that "
                      "answers, "
                      "for which the command waits up to 5 s. "
                      "Not given: --slurm-job's, else "
                      "MUSTER_COORDINATOR in "
                      "the environment, else that of the Slurm job around this "
                      "process, else "
                      "127.0.0.1:29400.",
                  .pet = kNone}},
        {.flag = {.name = "slurm-job",
                  .value = "ID",
                  .help = "The coordinator of this job of Slurm's, where "
                          "squeue says that its "
                          "launch runs.",
                  .pet = kNone}},
        {.flag = {.name = "run-id",
                  .value = "ID",
                  .help = "The job. Not given: the coordinator's only one.",
                  .pet = kNone}},
        {.flag = {.name = "token-file",
                  .value = "FILE",
                  .help = "A file that holds the job's shared secret; "
                          "MUSTER_TOKEN in the "
                          "environment does the same. The secret that a job of "
                          "one node "
                          "has made is found for its user on its machine.",
                  .completions = "<file>",
                  .pet = kNone}},
        {.flag = {.name = "rank",
                  .value = "RANKS",
                  .help = "Only these ranks, such as 3 or 0-3,8.",
                  .pet = kNone},
         .takers = {kLogs, kStacks}},
        {.flag = {.name = "node",
                  .value = "NODE",
                  .help =
                      "Only the ranks of this node, a host name or node id.",
                  .pet = kNone},
         .takers = {kLogs, kStacks}},
        {.flag =
             {.name = "lines",
              .letter = 'n',
              .value = "N",
              .default_text = "10",
              .help =
                  "The number of newest lines of each rank, or all. The nodes "
                  "keep the newest 128 KiB of each worker's output in memory, "
                  "over all rounds, whether or not --log-dir is given.",
              .pet = kNone},
         .takers = {kLogs}},
        {.flag = {.name = "since",
                  .value = "TIME",
                  .help =
                      "Only lines that came to their node in this time before "
                      "now, such as 90s, 5m or 2h: without --lines, all of "
                      "them. Lines of output have no time of their own.",
                  .pet = kNone},
         .takers = {kLogs}},
        {.flag = {.name = "grep",
                  .value = "PATTERN",
                  .help = "Only lines that match this regular expression "
                          "(RE2); the nodes search.",
                  .pet = kNone},
         .takers = {kLogs}},
        {.flag =
             {.name = "follow",
              .letter = 'f',
              .help =
                  "Also print new lines, over all rounds, until the job ends.",
              .pet = kNone},
         .takers = {kLogs}},
        {.flag = {.name = "native",
                  .help = "Also read native frames with gdb, which stops each "
                          "process for a moment, often for seconds.",
                  .pet = kNone},
         .takers = {kStacks}},
        {.flag =
             {.name = "free",
              .value = "HOST",
              .help =
                  "Declare the faults of this machine void, and lift its ban.",
              .pet = kNone},
         .takers = {kNodes}},
        {.flag = {.name = "ban",
                  .value = "HOST",
                  .help = "Give nodes of this machine no place in any round, "
                          "until it is freed; a running round goes on.",
                  .pet = kNone},
         .takers = {kNodes}},
        {.flag = {.name = "reason",
                  .value = "TEXT",
                  .help = "Why the machine is banned.",
                  .pet = kNone},
         .takers = {kNodes}},
        {.flag = {.name = "json",
                  .help = "Print JSON, for programs.",
                  .pet = kNone},
         .takers = {kStatus, kWatch, kNodes}},
        {.flag = {.name = "help",
                  .letter = 'h',
                  .help = "Show this text.",
                  .pet = kNone}},
    };
    for (AdminFlag& row : *rows) {
      if (row.takers.empty()) continue;
      absl::string_view help = row.flag.help;
      help.remove_suffix(1);
      auto* const text = new std::string(
          absl::StrCat(help, " (", NamesOf(row.takers, ", ", ", "), ")."));
      row.flag.help = text->c_str();
    }
    for (const Flag& flag : TlsFlags()) {
      rows->insert(rows->end() - 2, {.flag = flag});
    }
    return rows;
  }();
  return table;
}

std::vector<Flag> AdminFlags() {
  std::vector<Flag> flags;
  for (const AdminFlag& row : AdminFlagTable()) flags.push_back(row.flag);
  return flags;
}

std::string NamesOf(const std::vector<SubcommandId>& ids, const char* separator,
                    const char* last) {
  std::string names;
  for (size_t i = 0; i < ids.size(); ++i) {
    const char* const before = i == 0                ? ""
                               : i + 1 == ids.size() ? last
                                                     : separator;
    absl::StrAppend(
        &names, before,
        std::ranges::find(Subcommands(), ids[i], &Subcommand::id)->name);
  }
  return names;
}

const Subcommand* FindSubcommand(const std::string& argument) {
  for (const Subcommand& subcommand : Subcommands()) {
    if (argument == subcommand.name) return &subcommand;
  }
  return nullptr;
}

}  // namespace muster::launcher
