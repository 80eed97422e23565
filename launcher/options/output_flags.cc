// The flags for output, signals and preemption, the flags that have no effect,
// and the general flags.
#include <algorithm>
#include <csignal>
#include <set>

#include "absl/strings/str_cat.h"
#include "launcher/options/flag_table.h"
#include "launcher/options/option_values.h"
#include "launcher/options/run_options.h"

namespace muster::launcher {
namespace {

using Text = const std::string&;

// Reads the value of --log-dir. As in torchrun, /dev/null means that there are
// no log files.
absl::StatusOr<std::string> ReadLogFolder(Text text) {
  return ReadFolder(text == "/dev/null" ? "" : text);
}

absl::StatusOr<std::set<int>> ReadLocalRanks(Text text) {
  std::set<int> ranks;
  for (const std::string& part : ReadList(text)) {
    const absl::StatusOr<int64_t> rank = ReadNumber(part, 0, 4095);
    if (!rank.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat(part, " is not a local rank; write for example 0,1"));
    }
    ranks.insert(static_cast<int>(*rank));
  }
  return ranks;
}

// Reads the value of --console: "wait", "wait:SECONDS" or "drop".
absl::StatusOr<agent::ConsolePolicy> ReadConsolePolicy(Text text) {
  constexpr char kTimed[] = "wait:";
  agent::ConsolePolicy policy;
  policy.drops = text == "drop";
  if (policy.drops || text == "wait") return policy;
  if (text.rfind(kTimed, 0) != 0) {
    return absl::InvalidArgumentError("is none of wait, wait:SECONDS and drop");
  }
  const absl::StatusOr<Duration> timeout =
      ReadSeconds(text.substr(sizeof kTimed - 1));
  if (!timeout.ok()) return timeout.status();
  policy.timeout = *timeout;
  return policy;
}

// Reads a number of MiB and returns bytes.
absl::StatusOr<int64_t> ReadMebibytes(Text text) {
  const absl::StatusOr<int64_t> mebibytes = ReadNumber(text, 0, 1 << 20);
  if (!mebibytes.ok()) return mebibytes;
  return *mebibytes << 20;
}

absl::StatusOr<int> ReadWorkerSignal(Text text) {
  if (text == "0") return 0;
  const absl::StatusOr<std::vector<int>> signals = ReadSignals(text);
  if (!signals.ok()) return signals.status();
  if (signals->size() == 1) return signals->front();
  return absl::InvalidArgumentError(
      "is not one signal; write for example SIGUSR1, or 0 for none");
}

// Reads the signals that announce a preemption. Refuses SIGCONT: Slurm sends
// SIGCONT before the SIGTERM of a preemption, but also to resume a suspended
// job. Refuses SIGINT, which Ctrl-C sends to end the job.
absl::StatusOr<std::vector<int>> ReadPreemptionSignals(Text text) {
  absl::StatusOr<std::vector<int>> signals = ReadSignals(text);
  if (!signals.ok()) return signals;
  if (std::find(signals->begin(), signals->end(), SIGCONT) != signals->end()) {
    return absl::InvalidArgumentError(
        "SIGCONT announces nothing: it also comes when a suspended job goes "
        "on; write for example SIGUSR1,SIGTERM");
  }
  if (std::find(signals->begin(), signals->end(), SIGINT) != signals->end()) {
    return absl::InvalidArgumentError(
        "SIGINT is Ctrl-C, which ends the job; write for example "
        "SIGUSR1,SIGTERM");
  }
  return signals;
}

absl::Status ReadLogsSpecs(Text text) {
  if (text.empty() || text == "default") return absl::OkStatus();
  return absl::InvalidArgumentError(
      "Python plug-ins for logs are not loaded; leave it out and see "
      "--log-dir, --redirects and --tee");
}

absl::Status ReadEventLogHandler(Text text, RunOptions& options) {
  if (text == "console") {
    options.remarks.emplace_back(
        "--event-log-handler=console has no effect: decisions go to "
        "events.jsonl in the log folder");
  } else if (text != "null") {
    return absl::InvalidArgumentError(
        "is no event handler; write null or console, or leave it out: "
        "decisions go to events.jsonl in the log folder");
  }
  return absl::OkStatus();
}

// constexpr, so that the table needs no initialization when the program starts.
constexpr Flag kFlags[] = {
    {.name = "log-dir",
     .value = "DIR",
     .group = FlagGroup::kOutput,
     .help = "Where log files go: "
             "DIR/RUN/attempt_N/RANK/{stdout,stderr}.log. RUN is a fresh "
             "name that begins with the run id, the same on all nodes. "
             "DIR/latest leads to the newest. Not given: a temporary "
             "folder.",
     .completions = "<directory>",
     .read = [](Text t,
                RunOptions& o) { return Set(o.log_dir, ReadLogFolder(t)); }},
    {.name = "redirects",
     .letter = 'r',
     .value = "STREAMS",
     .default_text = "0",
     .group = FlagGroup::kOutput,
     .help = "Keep workers' streams from the console: 0 none, 1 stdout, "
             "2 stderr, 3 both, or by local rank, such as 0:1,1:2.",
     .completions = "0 1 2 3",
     .read =
         [](Text t, RunOptions& o) {
           return Set(o.logs.redirects, agent::ParseStreamsByRank(t));
         }},
    {.name = "tee",
     .letter = 't',
     .value = "STREAMS",
     .default_text = "0",
     .group = FlagGroup::kOutput,
     .help = "Streams that reach both file and console; numbers as of "
             "--redirects.",
     .completions = "0 1 2 3",
     .read =
         [](Text t, RunOptions& o) {
           return Set(o.logs.tee, agent::ParseStreamsByRank(t));
         }},
    {.name = "log-line-prefix-template",
     .value = "TEXT",
     .group = FlagGroup::kOutput,
     .help = "The prefix of a worker's lines on the console; "
             "${role_name}, ${local_rank}, ${rank} and ${hostname} are "
             "replaced. Default: TORCHELASTIC_LOG_LINE_PREFIX_TEMPLATE, "
             "else [node:rank] and a space.",
     .read = [](Text t,
                RunOptions& o) { return Set(o.logs.prefix_template, t); }},
    {.name = "local-ranks-filter",
     .value = "LIST",
     .group = FlagGroup::kOutput,
     .help = "The local ranks whose output reaches the console, such as "
             "0,1. Not given: all.",
     .read =
         [](Text t, RunOptions& o) {
           return Set(o.logs.console_local_ranks, ReadLocalRanks(t));
         }},
    {.name = "console",
     .value = "MODE",
     .default_text = "wait",
     .group = FlagGroup::kOutput,
     .help = "wait: a slow console slows the workers, as a pipe does, "
             "and launch waits for it at the end until it has taken "
             "nothing for 60 s (wait:SECONDS: another time). drop: "
             "workers never wait; output that exceeds 4 MiB of backlog "
             "is dropped and counted.",
     .completions = "wait drop",
     .read =
         [](Text t, RunOptions& o) {
           return Set(o.logs.console, ReadConsolePolicy(t));
         }},
    {.name = "duplicate-stdout-filters",
     .value = "LIST",
     .group = FlagGroup::kOutput,
     .help = "Lines of stdout that contain one of these texts are copied "
             "to filtered_stdout.log. Commas separate the texts; write a "
             "comma in a text twice.",
     .read =
         [](Text t, RunOptions& o) {
           return Set(o.logs.stdout_filters, ReadFilters(t));
         }},
    {.name = "duplicate-stderr-filters",
     .value = "LIST",
     .group = FlagGroup::kOutput,
     .help = "The same for stderr and filtered_stderr.log.",
     .read =
         [](Text t, RunOptions& o) {
           return Set(o.logs.stderr_filters, ReadFilters(t));
         }},
    {.name = "log-rotate-mb",
     .value = "MIB",
     .default_text = "256",
     .group = FlagGroup::kOutput,
     .help = "A log file that reaches this size is rotated; four older "
             "ones are kept, and the number of deleted bytes is printed "
             "at the end. 0: never. Not given: files of streams that the "
             "console does not show (--redirects, --local-ranks-filter, "
             "--console=drop) are never rotated.",
     .read = [](Text t, RunOptions& o) -> absl::Status {
       o.logs.rotation = agent::LogPlan::Rotation::kOfAllStreams;
       return Set(o.logs.rotate_bytes, ReadMebibytes(t));
     }},
    {.name = "quiet",
     .group = FlagGroup::kOutput,
     .help = "Print only errors and the verdict of a failed job, no "
             "other messages of Muster.",
     .read =
         [](Text t, RunOptions& o) {
           return Set(o.verbosity,
                      ReadEither(t, Verbosity::kNotices, Verbosity::kQuiet));
         }},
    {.name = "signals-to-handle",
     .value = "LIST",
     .default_text = "SIGTERM,SIGINT,SIGHUP,SIGQUIT",
     .group = FlagGroup::kStopping,
     .help = "Signals that stop the job: each worker gets the same "
             "signal and has --shutdown-timeout to end. A second signal "
             "stops the job at once. A signal that is ignored when "
             "launch starts (SIGHUP under nohup, SIGINT of a background "
             "job of sh) stays ignored, also by the workers.",
     .read = [](Text t, RunOptions& o) -> absl::Status {
       o.signals_to_handle_text = t;
       return Set(o.signals_to_handle, ReadSignals(t));
     }},
    {.name = "signals-to-forward",
     .value = "LIST",
     .group = FlagGroup::kStopping,
     .help = "Signals that are sent to every worker of the job, which "
             "continues, such as SIGUSR1. They take precedence over "
             "--signals-to-handle.",
     .read =
         [](Text t, RunOptions& o) {
           return Set(o.policy.signals_to_forward, ReadSignals(t));
         }},
    {.name = "signals-to-leave",
     .value = "LIST",
     .group = FlagGroup::kStopping,
     .help = "Signals on which only this node leaves while the job "
             "continues, such as SIGTERM for evicted pods.",
     .on_hosts = OnHosts::kNotSent,
     .read =
         [](Text t, RunOptions& o) {
           return Set(o.policy.signals_to_leave, ReadSignals(t));
         }},
    {.name = "shutdown-timeout",
     .value = "SECONDS",
     .default_text = "30",
     .group = FlagGroup::kStopping,
     .help = "Time from the first signal to a worker until SIGKILL. "
             "Default: TORCH_ELASTIC_SHUTDOWN_TIMEOUT in the "
             "environment, else 30.",
     .variable = "TORCH_ELASTIC_SHUTDOWN_TIMEOUT",
     .read =
         [](Text t, RunOptions& o) {
           return Set(o.spec.shutdown_timeout, ReadSeconds(t));
         }},
    {.name = "signals-to-preempt",
     .value = "LIST",
     .group = FlagGroup::kPreemption,
     .help = "Signals by which a cluster announces that it will take the "
             "nodes away: every worker of the job gets a notice and may "
             "write a checkpoint, and the job ends with status 75. Under "
             "Slurm: SIGUSR1,SIGTERM.",
     .read =
         [](Text t, RunOptions& o) {
           return Set(o.preemption.signals, ReadPreemptionSignals(t));
         }},
    {.name = "preempt-signal",
     .value = "SIGNAL",
     .default_text = "SIGTERM",
     .group = FlagGroup::kPreemption,
     .help = "The signal that workers get at a preemption; 0: no signal, "
             "only the file that MUSTER_PREEMPTION_FILE names.",
     .read =
         [](Text t, RunOptions& o) {
           return Set(o.preemption.worker_signal, ReadWorkerSignal(t));
         }},
    {.name = "preempt-grace",
     .value = "SECONDS",
     .default_text = "120",
     .group = FlagGroup::kPreemption,
     .help = "How long workers may run after the notice; then they are "
             "stopped, with --shutdown-timeout.",
     .read =
         [](Text t, RunOptions& o) {
           return Set(o.preemption.grace, ReadSeconds(t));
         }},
    {.name = "on-preempt",
     .value = "COMMAND",
     .group = FlagGroup::kPreemption,
     .help = "A shell command that runs on each node after the notice, "
             "with MUSTER_PREEMPTION_SIGNAL and more in its environment. "
             "Its output is shown only if it fails.",
     .read = [](Text t,
                RunOptions& o) { return Set(o.preemption.command, t); }},
    {.name = "requeue",
     .group = FlagGroup::kPreemption,
     .help = "After a preemption one node (rank 0's if it is left) "
             "requeues the Slurm job (scontrol requeue).",
     .read =
         [](Text t, RunOptions& o) {
           return Set(o.preemption.requeue,
                      ReadEither(t, agent::Requeue::kNo, agent::Requeue::kYes));
         }},
    {.name = "monitor-interval",
     .value = "SECONDS",
     .default_text = "0.1",
     .group = FlagGroup::kAccepted,
     .help = "Without effect: workers are not polled, and their end is "
             "noticed at once.",
     .read = [](Text t, RunOptions&) -> absl::Status {
       return ReadSeconds(t).status();
     }},
    {.name = "start-method",
     .value = "METHOD",
     .default_text = "spawn",
     .group = FlagGroup::kAccepted,
     .help = "Without effect: each worker is always a new program.",
     .completions = "spawn fork forkserver",
     .read = [](Text t, RunOptions& o) -> absl::Status {
       o.remarks.emplace_back(
           "--start-method has no effect: each worker is always a new program");
       return ReadChoice(t, {"spawn", "fork", "forkserver"}).status();
     }},
    {.name = "logs-specs",
     .value = "NAME",
     .group = FlagGroup::kAccepted,
     .help = "Only default is accepted, because Python plug-ins for logs "
             "are not loaded.",
     .pet = PetVariable::kNone,
     .read = [](Text t, RunOptions&) -> absl::Status {
       return ReadLogsSpecs(t);
     }},
    {.name = "event-log-handler",
     .value = "NAME",
     .default_text = "null",
     .group = FlagGroup::kAccepted,
     .help = "null and console are accepted without effect: events are "
             "written to events.jsonl in the log folder. Other names are "
             "refused, because Python handlers are not loaded.",
     .read = [](Text t, RunOptions& o) -> absl::Status {
       return ReadEventLogHandler(t, o);
     }},
    {.name = "help",
     .letter = 'h',
     .group = FlagGroup::kGeneral,
     .help = "Show this text.",
     .pet = PetVariable::kNone,
     .on_hosts = OnHosts::kNotSent},
    {.name = "version",
     .group = FlagGroup::kGeneral,
     .help = "Show the version.",
     .pet = PetVariable::kNone,
     .on_hosts = OnHosts::kNotSent},
    {.name = "print-completion",
     .value = "SHELL",
     .group = FlagGroup::kGeneral,
     .help = "Print a shell's completion script, as launch completion "
             "does.",
     .completions = "bash zsh fish",
     .user = FlagUser::kLaunchOnly,
     .pet = PetVariable::kNone,
     .on_hosts = OnHosts::kNotSent},
};

}  // namespace

std::span<const Flag> OutputFlags() { return kFlags; }

}  // namespace muster::launcher
