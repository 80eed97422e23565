#include "launcher/cli_reference.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "launcher/launch_help.h"
#include "launcher/options/flag.h"
#include "launcher/options/flag_table.h"
#include "launcher/run_report/report_command.h"
#include "launcher/subcommands.h"
#include "launcher/token_command.h"

namespace muster::launcher {
namespace {

constexpr char kHead[] = R"(# Command line

*This page is generated from the table that parses the flags
(`launcher/options/*_flags.cc`): do not edit it, run
`bazel run //launcher:cli_reference_tool > docs/CLI.md`.*

```
launch [FLAGS] PROGRAM [ARGUMENTS]
)";

constexpr char kIntroduction[] =
    R"(agent  [FLAGS] PROGRAM [ARGUMENTS]
```

`launch` runs PROGRAM's workers on this node and connects to the other nodes; on one
node of the job it also hosts the coordinator. `agent` is the same without the
coordinator, for pods and init systems (it can be process 1); it finds the
coordinator at `--rdzv-endpoint` or `MUSTER_COORDINATOR`.

* Flags may have dashes or underscores, and the value follows after `=` or as the
  next argument. The first argument that is no flag is PROGRAM; all later arguments
  belong to PROGRAM.
* `PET_<NAME>` in the environment is a flag's default (`PET_NPROC_PER_NODE=8`).
  The command line overrides it. A switch is 0 or 1; an empty variable counts as
  unset.
)";

constexpr char kReading[] =
    R"(* A `*.py` file and a module (`-m`) run under Python with `-u`: `PYTHON_EXEC`
  in the environment, else `python3`, else `python`. Any other file is executed.
* After a wrong command line `launch` starts nothing, prints one line on stderr and
  exits with status 2.

)";

constexpr char kTail[] = R"(## The host of the coordinator

The first rule that applies decides:

1. `--standalone`, or one node without `--rdzv-endpoint` (or with port 0): this
   process, on 127.0.0.1 (or ::1 if there is no 127.0.0.1) and a free port. No name
   is resolved.
2. Several endpoints in `--rdzv-endpoint` without `--takeover`: no node. They are those
   of `rendezvousd` daemons; `is_host=1` is refused. With `--takeover=auto` or
   `majority`, and at least 3 nodes, they are those of nodes: the rules below hold for
   the first one.
3. `is_host=1` in `--rdzv-conf`: this node; `is_host=0`: not this node.
4. A static job (`--master-addr` and `--node-rank`, no `--rdzv-endpoint`): node
   rank 0.
5. Otherwise the node that has one of the addresses of the endpoint's host. If
   several agents run on this machine, the first to bind the port hosts the
   coordinator, and the others connect. A port that is in use without a listener (by
   another program's connection) is tried again for 5 s, and then reported. If the
   name does not resolve (yet), the node with this host name hosts the coordinator;
   the others retry until `--connect-timeout`.

The coordinator listens on the given address if this is an IP address or
`localhost`, else on every interface. Peers connect to the address that reaches the
coordinator, or to `--local-addr`.

## Several endpoints

`--rdzv-endpoint=a:29400,b:29400` and `--endpoint=a:29400,b:29400` name 2 to 8
endpoints of daemons of which one answers and the ports of the others are closed, until
one of them takes over. Agents and commands try the endpoints in turn, beginning with
the one that answered last. A refused connection and a name that does not resolve lead
to the next endpoint at once, an address that does not answer after 1.2 s, a program
that accepts the connection and says nothing after 5 to 7 s. An agent whose connection
breaks, or to which the coordinator has not answered for 5 s (for 2.5 s, if another node
can take over and MAX is at most 1,024), tries the same endpoint again, for 0.2 s if the
address does not answer, and goes on so until `--coordinator-timeout`; meanwhile its
workers run. If no endpoint answers, the error has the reason of each of them; if one
refuses the token or the certificate, its error alone is shown.

`launch watch`, `launch top` and `launch logs -f` look for the next coordinator if theirs
is lost: at the endpoints, and at the nodes that it has named. `watch` and `logs` say
`coordinator lost; connected to HOST:PORT after 1.2 s`, go on without repeating a line,
and print the decisions and the output of the time in between. They exit with 1 if no
coordinator has answered for 60 s.

With `--takeover=auto` or `majority`, `--rdzv-endpoint=a:29400,b:29400,c:29400` names
nodes of the job, with one port; the same list on every node. Node `a` hosts the
coordinator. A node to which `a` does not answer for 2 s tries the others, which know
where the job is coordinated. So a node that starts late or again finds the job also if
`a` is lost for good.

## Ports for a firewall

| Port | Listener | Clients |
|---|---|---|
| the coordinator's (`--rdzv-endpoint`, 29400; of a static job `--master-port`, 29500) | the node that hosts it; in a job of 3 nodes or more every node, unless `--takeover=never` | every node's agent, and `launch status` |
| the workers' store, `MASTER_PORT`: a new free port in each round, unless `--store-port` fixes it | rank 0's node, which may change | every worker; with `--local-store` or `--encrypt=workers` every agent |
| the workers' own ports (NCCL, Gloo, MPI) | every node | workers; free ports of `net.ipv4.ip_local_port_range`, unless the library is configured otherwise |

The first two ports always differ, also in static jobs, where torchrun's are equal: the
coordinator speaks gRPC, and a store with its own port begins each round without the
keys and connections of the previous round. `--store-port` must differ from the
coordinator's port and from the ports of other jobs on the node.

## Environment of launch

| Variable | Meaning |
|---|---|
| `PET_<NAME>` | defaults of flags |
| `PYTHON_EXEC` | the Python for scripts and modules |
| `MUSTER_TOKEN` | the job's shared secret, if `--token-file` is not given; each program removes it from its environment at its start |
| `MUSTER_TLS_CERT`, `MUSTER_TLS_KEY`, `MUSTER_TLS_CA` | defaults of `--tls-cert`, `--tls-key` and `--tls-ca` |
| `DCGM_HPC_JOB_MAPPING_DIR` | default of `--dcgm-job-mapping-dir` |
| `MUSTER_ENCRYPT` | default of `--encrypt` |
| `MUSTER_COORDINATOR` | default of the sub-commands' `--endpoint`, and of `agent`'s `--rdzv-endpoint`; one or several endpoints |
| `CUDA_VISIBLE_DEVICES` | the GPUs that may be used; with `--virtual-local-rank` also `HIP_VISIBLE_DEVICES`, which has priority |
| `TORCH_ELASTIC_SHUTDOWN_TIMEOUT` | default of `--shutdown-timeout`, after `PET_SHUTDOWN_TIMEOUT` |
| `TORCHELASTIC_ENABLE_FILE_TIMER`, `TORCHELASTIC_TIMER_FILE` | 1: serve workers' timers (see [Timers](#timers)), through a named pipe with this path, by default a new one in each round |
| `TORCH_DISABLE_SHARE_RDZV_TCP_STORE` | 1: default of `--worker-store` |
| `MUSTER_NCCL_LIBRARY` | the file of NCCL's library, if it is not `libnccl.so.2` |
| `MUSTER_NVML_LIBRARY` | the file of NVIDIA's management library, if it is not `libnvidia-ml.so.1`; Muster uses it to count and examine GPUs |
| `OMP_NUM_THREADS` | passed to workers; default: cores divided by workers |
| `TMPDIR` | the folder of log files without `--log-dir` |
| `SLURM_*` | in a Slurm job: see [SLURM.md](SLURM.md) |
| `JOB_COMPLETION_INDEX`, `MUSTER_NODES` and other variables of pods | in Kubernetes: see [KUBERNETES.md](KUBERNETES.md) |
| `NO_COLOR` | no colours |

## Environment of a worker

A worker has the environment of `launch`, and these variables: `RANK`, `LOCAL_RANK`, `WORLD_SIZE`,
`LOCAL_WORLD_SIZE`, `GROUP_RANK`, `GROUP_WORLD_SIZE`, `ROLE_RANK`,
`ROLE_WORLD_SIZE`, `ROLE_NAME`, `MASTER_ADDR`, `MASTER_PORT`,
`TORCHELASTIC_RESTART_COUNT`, `TORCHELASTIC_MAX_RESTARTS`,
`TORCHELASTIC_RUN_ID`, `TORCHELASTIC_USE_AGENT_STORE`,
`TORCH_NCCL_ASYNC_ERROR_HANDLING`, `TORCHELASTIC_ERROR_FILE`,
`TORCHELASTIC_SIGNALS_TO_HANDLE`, `TORCHELASTIC_TIMER_FILE` (if timers are served),
`OMP_NUM_THREADS`, `CUDA_VISIBLE_DEVICES` (with `--gpus` or
`--virtual-local-rank`), `MUSTER_RUN_ID`, `MUSTER_NODE_ID`,
`MUSTER_ROUND`, `MUSTER_COORDINATOR`, `MUSTER_FLIGHT_RECORDER_DIR` (the folder in
which the training library keeps each rank's last operations, for `launch inspect`),
`MUSTER_PROGRESS_SOCKET`, `MUSTER_PREEMPTION_FILE` (see below),
`MUSTER_NODE_ADDRESS` (the address at which peers connect to this node);
with `--encrypt=workers`, `MUSTER_CHANNEL_KEY_PIPE` (see
[SECURITY.md](SECURITY.md#encrypted-workers));
with `--numa-binding`, `MUSTER_CPU_SET` and `MUSTER_NEAR_NIC` (see
[BINDING.md](BINDING.md)); if rank 0's node has an NVIDIA driver and NCCL,
`MUSTER_NCCL_ID` (see [SDK.md](SDK.md)). `--framework-env` adds variables of other
launchers, and the `env:` of a `--config` file adds its own, which override inherited
ones.

## Output

Workers' lines reach the console with the prefix `[node:rank] `; two lines are never
mixed. The log files have every byte, except what `--log-rotate-mb` deletes. A line of
more than 64 KiB is shown in pieces, which are marked. An incomplete line is shown after
0.3 s. A progress bar (text that `\r` overwrites) is shown once a second in its newest
state, on a terminal in place.

With `--log-dir` each run has a fresh folder there, `RUN_ID_TAG`, to which the
link `latest` leads. The coordinator draws the tag: the nodes of a run share the
folder, where they share a file system, all ranks side by side. A node that is
started again while others of the run are left goes on in it, as does the whole
run under a coordinator that was started again; the new coordinator's
`events.jsonl` is in a folder of its own. A run of one node without `--rdzv-id`
and endpoint has a run id of its own and no tag.

No output is dropped. A console that is slower than the workers makes them wait, as a
pipe does, with at most a few MiB of memory in `launch`; nothing else is delayed. At
the end `launch` waits for the console as long as it takes output, for stdout and
stderr at the same time. `launch` gives up on a stream that takes nothing for 60 s
(`--console=wait:SECONDS`; 5 s after a signal that ends the job or that comes during
this wait, at once after another signal): one line gives the number of missing bytes
and the folder that has them, which is kept. With `--console=drop` workers never wait,
and a line in place of the missing output gives its number of bytes.

A reader that closes the pipe (`| head -1`) delays nothing and is no error. If stdout or
stderr cannot be written (a full disk, `ulimit -f`), the other one reports it, and the
exit status is 74 if the job succeeded; a failed job keeps its own status. A log file
that cannot be written, or that is removed, is reported and harms no worker; if
the file was the only place of these bytes (`--redirects`), the exit status is 74, too.

Over ssh and under Slurm the same holds for the whole way from the workers to the
console of the `launch` that you called; over ssh lines arrive complete.

## Standard input and terminals

By default the worker of local rank 0 reads `launch`'s standard input, and the others
read /dev/null; `--stdin` chooses another worker, all or none. In the next round the
worker continues where the previous one stopped. In a Slurm step and in a pod no worker
reads standard input unless `--stdin` is given, and agents that `--slurm` or
`--hostfile` start have none.

If a node has one worker and `launch`'s output goes to a terminal, this worker gets a
terminal, too: `isatty()` is true, progress bars and escape sequences reach the
terminal unchanged and without prefixes, and the log files have the bytes that the
worker wrote. stdout and stderr are two such terminals, so that each has its log file.
`--tee` gives prefixed lines instead. If standard input is a terminal as well, the
worker reads it with line editing and echo (`breakpoint()` works), and it is the
controlling terminal of the worker's session:

* `launch` handles Ctrl-C, Ctrl-\ and Ctrl-Z. Ctrl-C sends SIGINT to the workers and
  ends the job.
* Ctrl-Z stops `launch` and its workers, until `fg` or `bg`, also if a node has
  several workers. (The other nodes treat a node as lost that is stopped for longer
  than its lease.)
* In the background the shell gets the keys; the worker continues to read after `fg`.
* `launch` restores the modes of the terminal when the workers have ended, while it
  is stopped, and when it is killed.

With several workers on a node, or with stdout elsewhere, the worker that reads
standard input reads the terminal itself, as under torchrun; in a round that begins
in the background it reads /dev/null.

## Preemption

A signal of `--signals-to-preempt` at any node announces that the cluster will take
the job's nodes away. Each node then writes the file that `MUSTER_PREEMPTION_FILE`
names to its workers (one line:
`{"signal":"SIGUSR1","host":"n1","grace_s":118.5}`; the file does not exist
before), sends them `--preempt-signal`, and runs `--on-preempt` with
`MUSTER_RUN_ID`, `MUSTER_NODE_ID`, `MUSTER_PREEMPTION_SIGNAL`,
`MUSTER_PREEMPTION_HOST`, `MUSTER_PREEMPTION_GRACE` (seconds) and
`MUSTER_PREEMPTION_FILE` in its environment.

After the notice no node joins and no round begins. Workers may write a checkpoint and
exit with 0, or with 75 ("try again"), which counts as 0; a worker that dies of the
signal has not failed. Any other failure ends the round early, because the other
workers would wait in vain, and the verdict names the failed worker. After
`--preempt-grace`, at a second signal of the list (at least two seconds after the
first) or at SIGTERM, the remaining workers are stopped, with `--shutdown-timeout`.
Every node exits with 75 whatever the workers did; Ctrl-C and `launch cancel` end the
job as usual. The round includes the commands of `--on-preempt`: the job ends when
they have ended, or when their time (the grace and `--shutdown-timeout`) is over. A
command that is stopped then, or by a cancellation, is named.

With `--requeue` the remaining node with the lowest rank then runs
`scontrol requeue`; outside of a Slurm job the flag is refused at the start. A signal
cannot be in both `--signals-to-preempt` and `--signals-to-leave`, and SIGINT
(Ctrl-C) cannot be a notice.

## Health checks

With `--health-command` or `--health-checks` a node is checked before each round, and every
`--health-interval` while it waits. A node that fails stays out; the waiting nodes'
messages, `launch status` and, if too few healthy nodes come in time, the verdict give
the reason. A running round is not affected.

`--network-check` measures the nodes [by pairs](DOCTOR.md#by-pairs-before-a-round).

## Progress

`MUSTER_PROGRESS_SOCKET` is a Unix datagram socket, one for each worker. The worker may
send lines there in the format of sd_notify(3), several in one datagram; `launch
status` and `launch watch` show them:

| Line | Meaning |
|---|---|
| `STEP=1200` | the last completed step |
| `LOSS=2.31` | any number, also `nan` |
| `TOKENS_PER_S=51000` | of this worker |
| `STATUS=warming up` | free text, 64 bytes |
| `CHECKPOINT=1` | the training waits for a checkpoint, until `CHECKPOINT=0` or the next step |
| `WATCHDOG=1` | the worker is alive |
| `OWN_NS=…`, `BLOCKED_NS=…` | nanoseconds outside and inside of collectives since the first one; Muster's training library sends them. No sign of life |
| `DATA_NS=…` | the nanoseconds of these in which the worker waited for its data |
| `LINKS_NS=3:70,5:0` | nanoseconds for which the network limited sends, RANK:NANOSECONDS for at most 8 ranks on other hosts |
| `SENT_BYTES=900` | bytes sent to other hosts |
| `WATCHDOG_S=30` | from now on more than 30 s without a line is a hang; 0: never |

`launch top` shows the job and a table of its ranks in a terminal, once a second anew.
The arrow keys choose a rank, Enter shows it alone with the last lines of its output,
which follow live until `f` holds them; `r`, `s`, `h` and `t` sort by rank, step, silence
and tokens per second, and `q` ends it. Where stdin or stdout is no terminal, it prints
the status once.

`launch status --json` has for each worker in `progress`, as `seconds`, how it has spent
its time since its first collective of the round: `work` outside of collectives, `data`
waiting for its data, `collectives` inside of them. null: the worker does not report
`OWN_NS` and `BLOCKED_NS`. `collectives_seconds` has the parts of `collectives` that the
coordinator could [divide](METRICS.md#slow-ranks): `wait` for ranks that arrive later, and
`transfer`; null: none yet. `launch top` and the [dashboard](DASHBOARD.md) show these
times, with their shares, for the chosen rank.

`launch watch` polls every five seconds and prints news: one line for the job with its
steps, mean loss and total tokens/s, and below it a line for each rank; with more than
eight ranks only the slowest and the fastest (by step, then by tokens/s). It prints
once that a rank has been silent for ten seconds. With `--json` it prints only the
job's line; `launch status --json` has the ranks.

```
2026-11-21 07:51:33 UTC  round 1  progress  steps 104 to 118 (median 118), rank 1 is the last; loss 0.7366; 99000 tokens/s
    rank 0  step 118             loss 0.7184  50000 tokens/s
    rank 1  step 104  14 behind  loss 0.7547  49000 tokens/s
```

A worker hangs if it has reported in this round and is then silent for longer than its
deadline: `WATCHDOG_S`, else `--hang-timeout`. Before anything is stopped, the agent
takes the stacks of this worker and of the node's other workers (Python frames by
py-spy and native frames by gdb, if these are installed and may trace, and the facts
of /proc) and writes them to `stack.txt` in each worker's log folder. Then the worker
counts as failed, and the verdict gives the place of the hang. No code runs inside a
worker for this; gdb stops the worker while it looks. A worker that dies while its
stack is taken counts as hung, too. `launch` searches py-spy in its `PATH`, in its own
folder, and where `tools/setup_py_spy` puts it (`MUSTER_PY_SPY_DIR`, else
`~/.cache/muster/py-spy`); if there is none, one line says so.

Peers that wait for a hung worker become silent as well, often within milliseconds and
in any order. The agent blames the worker that /proc shows as stopped by a signal
(SIGSTOP, a terminal's Ctrl-Z), then a worker that waits uninterruptibly for a disk or
a driver; a stopped worker is also preferred across nodes. Otherwise the first worker
that became silent is named, and the message says how many others became silent at the
same time: the first one need not be the cause then, and `launch inspect` with the
round's log folder shows which rank waited for which.

## Where the time went

Each second of a node, from its agent's start, belongs to one activity:

| Activity | The node |
|---|---|
| `waiting` | waits for a coordinator or other nodes, before its first round |
| `starting` | starts the round's workers |
| `initialising` | has workers that have finished no step of this round |
| `productive` | has workers that make steps which no round has made before |
| `running` | has workers that report no steps; counts as productive |
| `checkpointing` | waits for a checkpoint, as a worker has told by `CHECKPOINT=1` |
| `stalled` | has made no step for ten times as long as usual and more than 1 s; the time beyond the usual pause |
| `recomputing` | makes steps that an earlier round had made |
| `stopping` | stops its workers |
| `recovering` | is between two rounds |
| `idle` | is a spare, or waits for the workers of other nodes to end |

The steps are the highest that any worker of the node has reported. `launch status`
shows the shares, and the verdict's last line tells what was lost to whom:

```
train.py SUCCEEDED in 1h 02m (4 rounds, 3 of 5 restarts used)
97.3 % productive; 12.1s lost to 3 failures: worker on h2 7.1s, node h3 4.1s, hang on h1 0.90s
```

The first number is the job's effective training time ratio (ETTR): productive time by
the time of all nodes. Lost to an early end of a round is the time from it to the next
step that is new: stopping, recovering, starting, initialising and recomputing, and the
stall before a hang; the mean over the nodes. The causes are a failed `worker`, a `hang`, a
lost `node`, a change of the nodes (`change`), and `unknown`: an earlier coordinator knew it. `launch status --json` has all of it, for
the job (`time`) and for each node (`seconds`), as of the nodes' last reports. `time.by_node`
has the losses by the host that is blamed for them (an empty `host`: none is), for the 64
hosts with the largest; `time.other_nodes` is the sum of the others.

A coordinator that is started again with its state goes on with these numbers. One
without it, or one that has taken over from a lost `launch`, knows the time of the nodes
that come to it, but neither that of nodes that were lost before nor the causes.

## Timers

With `TORCHELASTIC_ENABLE_FILE_TIMER=1` the agent serves
`torch.distributed.elastic.timer`. A worker configures
`FileTimerClient(os.environ['TORCHELASTIC_TIMER_FILE'])` and puts code that may hang
into `with timer.expires(after=60):`. When a timer expires, the agent sends the timer's
signal (SIGKILL) to its process; the worker counts as failed, and the verdict names
the timer.

## The store

`MASTER_ADDR:MASTER_PORT` is the round's key-value store, which the agent of
group rank 0 serves to PyTorch and to the training library
([STORE.md](STORE.md)). With `--worker-store` there is no listener until rank 0's
worker opens one.
)";

// Lists the flags for which there is no environment variable PET_<NAME>, as
// lines of a Markdown list item.
std::string WithoutVariable(const std::vector<Flag>& flags) {
  constexpr size_t kColumns = 80;
  std::vector<std::string> words;
  for (const Flag& flag : flags) {
    if (flag.pet == PetVariable::kNone && flag.group != FlagGroup::kGeneral) {
      words.push_back(absl::StrCat("`--", flag.name, "`,"));
    }
  }
  words.back().back() = '.';
  words.insert(words.begin(), {"These", "have", "none:"});
  std::string text;
  std::string line = " ";
  for (const std::string& word : words) {
    if (line.size() + 1 + word.size() > kColumns) {
      absl::StrAppend(&text, line, "\n");
      line = " ";
    }
    absl::StrAppend(&line, " ", word);
  }
  return absl::StrCat(text, line, "\n");
}

// Escapes vertical bars, which would end a cell of a Markdown table.
std::string Cell(const std::string& text) {
  std::string cell;
  for (const char c : text) {
    if (c == '|') cell += '\\';
    cell += c;
  }
  return cell;
}

void AppendFlags(const std::vector<Flag>& flags, std::string& text) {
  for (int group = 0; group < kFlagGroups; ++group) {
    std::string rows;
    for (const Flag& flag : flags) {
      if (static_cast<int>(flag.group) != group) continue;
      const bool has_default = !flag.IsSwitch() && flag.default_text[0] != '\0';
      absl::StrAppend(
          &rows, "| `", Cell(FlagUsage(flag)), "` | ",
          has_default ? absl::StrCat("`", flag.default_text, "`")
                      : std::string(),
          " | ", Cell(flag.help),
          flag.more_help != nullptr ? " The keys are listed below." : "",
          flag.user == FlagUser::kLaunchOnly ? " (`launch` only)" : "", " |\n");
    }
    if (rows.empty()) continue;
    absl::StrAppend(&text, "### ", GroupTitle(static_cast<FlagGroup>(group)),
                    "\n\n| Flag | Default | Meaning |\n|---|---|---|\n", rows,
                    "\n");
  }
}

}  // namespace

std::string CliReference() {
  std::string text = kHead;
  for (const Subcommand& subcommand : Subcommands()) {
    if (subcommand.usage == nullptr) continue;
    absl::StrAppend(&text, "launch ", subcommand.usage, "\n");
  }
  absl::StrAppend(&text, kIntroduction,
                  WithoutVariable(FlagsOf(FlagUser::kLaunchOnly)), kReading);
  absl::StrAppend(&text, "## Examples\n\n");
  for (const auto& [command, meaning] : Examples()) {
    absl::StrAppend(&text, meaning, "\n\n```\n", command, "\n```\n\n");
  }
  absl::StrAppend(&text, "## Flags\n\n");
  AppendFlags(FlagsOf(FlagUser::kLaunchOnly), text);
  absl::StrAppend(&text,
                  "### Keys of --rdzv-conf\n\n| Key | Default | Meaning "
                  "|\n|---|---|---|\n");
  for (const RdzvConfKey& key : RdzvConfKeys()) {
    const bool has_default = key.default_text[0] != '\0';
    absl::StrAppend(&text, "| `", key.key, "` | ", has_default ? "`" : "",
                    key.default_text, has_default ? "`" : "", " | ",
                    key.help[0] == '\0'
                        ? "accepted as PyTorch's, without effect"
                        : key.help,
                    " |\n");
  }
  absl::StrAppend(&text, "\n");
  absl::StrAppend(&text, "## Sub-commands\n\n",
                  "A sub-command is taken as such only as the first argument; "
                  "a program of that name\nis run as `./status`.\n\n",
                  "| Command | Meaning |\n|---|---|\n");
  for (const Subcommand& subcommand : Subcommands()) {
    absl::StrAppend(&text, "| `launch ", subcommand.name, " ",
                    Cell(subcommand.arguments), "` | ", subcommand.summary,
                    " |\n");
  }
  const auto list = [&](const char* of, const std::vector<Flag>& flags) {
    absl::StrAppend(&text, "\nFlags of ", of,
                    ":\n\n| Flag | Meaning |\n|---|---|\n");
    for (const Flag& flag : flags) {
      absl::StrAppend(&text, "| `", Cell(FlagUsage(flag)), "` | ",
                      Cell(flag.help), " |\n");
    }
  };
  list("`status`, `watch`, `logs`, `stacks`, `cancel`, `drain` and `nodes`",
       AdminFlags());
  list("`report`", ReportFlags());
  list("`token`", TokenFlags());
  absl::StrAppend(&text, "\n## Exit status\n\n| Code | Meaning |\n|---|---|\n");
  for (const auto& [code, meaning] : ExitCodes()) {
    absl::StrAppend(&text, "| ", code, " | ", meaning, " |\n");
  }
  return absl::StrCat(text, "\n", kTail);
}

}  // namespace muster::launcher
