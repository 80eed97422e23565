#include "launcher/cli_reference.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "launcher/launch_help.h"
#include "launcher/options/flag.h"
#include "launcher/options/flag_table.h"
#include "launcher/options/help_text.h"
#include "launcher/subcommands.h"

namespace muster {
namespace {

constexpr char kHead[] = R"(# Command line

*This page is generated from the table that parses the flags
(`launcher/options/flag_table.cc`): do not edit it, run
`bazel run //launcher:cli_reference_tool > docs/CLI.md`.*

```
launch [FLAGS] PROGRAM [ARGUMENTS]
launch status|watch|cancel|drain [FLAGS]
launch doctor [--nodes] [FLAGS]
launch inspect DUMPS...
launch bench [FLAGS] OPERATION [OPTIONS]
launch config [FILE] [--force] | show FILE [--json]
launch completion bash|zsh|fish
agent  [FLAGS] PROGRAM [ARGUMENTS]
```

`launch` runs PROGRAM's workers on this node and meets the other nodes; it
hosts the coordinator where that is its place. `agent` is the same without the
coordinator, for pods and init systems (it can be process 1); it finds the
coordinator at `--rdzv-endpoint` or `MUSTER_COORDINATOR`.

* Every flag may be written with dashes or underscores, and its value after `=`
  or as the next argument. Flags end at PROGRAM; what follows belongs to it.
* `PET_<NAME>` in the environment is a flag's default (`PET_NPROC_PER_NODE=8`);
  the command line wins; switches take 0 or 1; an empty variable counts as
  unset.
)";

constexpr char kReading[] =
    R"(* A `*.py` file and a module (`-m`) run under Python with `-u`: `PYTHON_EXEC`
  in the environment, else `python3`, else `python`. Anything else is executed.
* A wrong command line is one line on stderr and exit status 2; nothing was
  started then.

)";

constexpr char kTail[] = R"(## Who hosts the coordinator

1. `--standalone`, or one node without `--rdzv-endpoint` (or with port 0): this
   process, on 127.0.0.1 (without it on ::1) and a free port. No name is resolved.
2. `is_host=1` in `--rdzv-conf`: this node; `is_host=0`: not this node.
3. A static job (`--master-addr` and `--node-rank`, no `--rdzv-endpoint`): node
   rank 0.
4. Else the node that has one of the addresses that the endpoint's host resolves
   to. Of several agents on that machine the first to bind the port hosts, the
   others connect. A port that is taken while nobody listens there (by some
   program's connection) is tried again for 5 s, and then named. Where the name
   does not resolve (yet), the node whose own name it is hosts; the others try
   again until `--connect-timeout`.

It listens on the address given, if that is an IP address or `localhost`, else
on every interface. Peers dial the address that really reaches the coordinator,
or `--local-addr`.

## Ports for a firewall

| port | where | who dials it |
|---|---|---|
| the coordinator's (`--rdzv-endpoint`, 29400; of a static job `--master-port`, 29500) | the node that hosts it | every node's agent, and `launch status` |
| the workers' store, `MASTER_PORT`: a free one, another each round, unless `--store-port` fixes it | rank 0's node, which may change | every worker, or with `--local-store` every agent |
| those of the workers themselves (NCCL, Gloo, MPI) | every node | workers; free ports of `net.ipv4.ip_local_port_range` unless the library is told others |

The first two never share one port, static jobs' included, where torchrun's do: a
coordinator speaks gRPC there, and a store of a port of its own begins each
round without the keys and connections of the one before. `--store-port` must
differ from the coordinator's port, and from that of another job on the node.

## Environment read

| variable | meaning |
|---|---|
| `PET_<NAME>` | defaults of flags |
| `PYTHON_EXEC` | the Python for scripts and modules |
| `MUSTER_TOKEN` | the job's shared secret, if `--token-file` is not given |
| `MUSTER_COORDINATOR` | default of the sub-commands' `--endpoint`, and of `agent`'s `--rdzv-endpoint` |
| `CUDA_VISIBLE_DEVICES` | the GPUs that may be used; with `--virtual-local-rank` also `HIP_VISIBLE_DEVICES`, which goes first |
| `TORCH_ELASTIC_SHUTDOWN_TIMEOUT` | default of `--shutdown-timeout`, after `PET_SHUTDOWN_TIMEOUT` |
| `TORCHELASTIC_ENABLE_FILE_TIMER`, `TORCHELASTIC_TIMER_FILE` | with 1: workers' timers are served (see [Timers](#timers)), at a named pipe of that path, or one that is made for each round |
| `TORCH_DISABLE_SHARE_RDZV_TCP_STORE` | 1: default of `--worker-store` |
| `MUSTER_NCCL_LIBRARY` | NCCL's file, where `libnccl.so.2` is not it |
| `MUSTER_NVML_LIBRARY` | NVIDIA's management library, where `libnvidia-ml.so.1` is not it; by it GPUs are counted and looked at |
| `OMP_NUM_THREADS` | passed through; if unset, cores divided by workers |
| `TMPDIR` | where log files go without `--log-dir` |
| `SLURM_*` | in a Slurm job: see SLURM.md |
| `JOB_COMPLETION_INDEX`, `MUSTER_NODES` and others of pods | in Kubernetes: see KUBERNETES.md |
| `NO_COLOR` | no colours |

## Environment of a worker

The environment of `launch`, and: `RANK`, `LOCAL_RANK`, `WORLD_SIZE`,
`LOCAL_WORLD_SIZE`, `GROUP_RANK`, `GROUP_WORLD_SIZE`, `ROLE_RANK`,
`ROLE_WORLD_SIZE`, `ROLE_NAME`, `MASTER_ADDR`, `MASTER_PORT`,
`TORCHELASTIC_RESTART_COUNT`, `TORCHELASTIC_MAX_RESTARTS`,
`TORCHELASTIC_RUN_ID`, `TORCHELASTIC_USE_AGENT_STORE`,
`TORCH_NCCL_ASYNC_ERROR_HANDLING`, `TORCHELASTIC_ERROR_FILE`,
`TORCHELASTIC_SIGNALS_TO_HANDLE`, `TORCHELASTIC_TIMER_FILE` (where timers are
served), `OMP_NUM_THREADS`, `CUDA_VISIBLE_DEVICES` (with `--gpus` or
`--virtual-local-rank`), `MUSTER_RUN_ID`, `MUSTER_NODE_ID`,
`MUSTER_ROUND`, `MUSTER_COORDINATOR`, `MUSTER_FLIGHT_RECORDER_DIR` (where the
training library keeps each rank's last operations, for `launch inspect`),
`MUSTER_PROGRESS_SOCKET`, `MUSTER_PREEMPTION_FILE` (see below),
`MUSTER_NODE_ADDRESS` (where peers dial this node);
with `--numa-binding`, `MUSTER_CPU_SET` and `MUSTER_NEAR_NIC` (see BINDING.md);
where rank 0's node has an NVIDIA driver and NCCL, `MUSTER_NCCL_ID` (see
SDK.md). `--dialect` adds other launchers' variables, and a `--config` file's
`env:` its own, which go before inherited ones.

## Output

Workers' lines reach the console with the prefix `[node:rank] `, never two mixed,
and the files byte for byte. A line of more than 64 KiB is shown in pieces that
say so. One that does not end is shown after 0.3 s as far as it is; of a progress
bar (text that `\r` draws over) the newest state is shown once a second, on a
terminal in its place.

With `--log-dir` each run of one node has a fresh folder there, named after the
run id, which is a fresh one too where none is given and no endpoint; a `launch`
that is started again makes another. The nodes of a larger job share the folder
of their run id, all ranks side by side, and a later run of the same id goes on
in it: give each run its own `--rdzv-id`. The link `latest` leads to the newest.

Nothing is dropped. A console that is slower than the workers makes them wait, as
a pipe does, with at most some MiB of memory here; it delays nothing else. At the
end `launch` waits for a reader who still reads. A console that takes nothing for
60 s then (`--console=wait:SECONDS`; 5 s after a signal that ends the job, at once
at a further one) is given up: one line says how many bytes it has not got and in
which folder they are, which is kept. With `--console=drop` workers never wait,
and a line in the place of what is missing says how many bytes that is.

A reader that leaves (`| head -1`) holds nobody up and is no error. Where stdout
or stderr cannot be written (a full disk), the other one says so, and a job that
succeeded exits with 74; a job that failed keeps its own status.

Over ssh and under Slurm the same holds from the workers to the console of the
`launch` that was called; over ssh lines arrive whole.

## Standard input and terminals

By default the worker of local rank 0 reads `launch`'s standard input, and the
others read /dev/null; `--stdin` names another, all or none. A worker of the next
round reads on where the one before it stopped. In a Slurm step and in a pod
nobody reads it unless `--stdin` is given, and agents that `--slurm` or
`--hostfile` start have none.

The only worker of a node finds a terminal where `launch`'s output goes to one:
`isatty()` is true, progress bars and escape sequences reach the terminal as they
are, without prefixes, and the log files have the bytes that the worker wrote.
stdout and stderr are two such terminals, so that each has its log file. `--tee`
asks for prefixed lines instead. Where standard input is a terminal as well, the
worker reads it with line editing and echo (`breakpoint()` works), and it is the
controlling terminal of the worker's session:

* Ctrl-C, Ctrl-\ and Ctrl-Z are `launch`'s. Ctrl-C sends SIGINT to the workers and
  ends the job.
* Ctrl-Z stops `launch` and its workers, until `fg` or `bg`, also where a node has
  several workers. (A node that stops for longer than its lease is lost to the
  others.)
* In the background keys are the shell's; the worker reads on after `fg`.
* The terminal has its modes back when the workers are gone, while `launch` is
  stopped, and when `launch` is killed.

With several workers on a node, or with stdout elsewhere, the worker that reads
standard input reads the terminal itself, as under torchrun; a round that begins
in the background gives it /dev/null.

## Preemption

A signal of `--signals-to-preempt` at any node says that the cluster takes the
job's nodes away. Each node then creates the file that its workers find named in
`MUSTER_PREEMPTION_FILE` (one line:
`{"signal":"SIGUSR1","host":"n1","grace_s":118.5}`; before, there is no such
file), sends them `--preempt-signal`, and runs `--on-preempt`, which finds
`MUSTER_RUN_ID`, `MUSTER_NODE_ID`, `MUSTER_PREEMPTION_SIGNAL`,
`MUSTER_PREEMPTION_HOST`, `MUSTER_PREEMPTION_GRACE` (seconds) and
`MUSTER_PREEMPTION_FILE` in its environment.

From then on nobody is let in and no further round begins. Workers may write a
checkpoint and exit with 0, or with 75 ("try again"), which counts as 0; one
that the signal kills is gone by it, and has not failed. One that fails otherwise
ends the round early, since the others would wait for it in vain, and is named in
the verdict. After `--preempt-grace`, at a second signal of the list (two seconds
after the first, or later) or at SIGTERM the rest is stopped, with
`--shutdown-timeout`. Whatever came of it, every node exits with 75; Ctrl-C and
`launch cancel` end the job as ever. The commands of `--on-preempt` belong to the
round: the job ends once they have, or are out of time (the grace and
`--shutdown-timeout`); one that is ended then, or by a cancel, is named.

With `--requeue` the node of the lowest rank that is left then runs
`scontrol requeue`; outside a Slurm job the flag is refused at the start. No
signal is both of `--signals-to-preempt` and of `--signals-to-leave`, and SIGINT
(Ctrl-C) announces nothing.

## Fitness

With `--health-check` or `--node-checks` a node is looked at before each round,
and every `--health-interval` while it waits. One that does not pass is kept
out, with the reason in the waiting nodes' messages, in `launch status` and in
the verdict if too few fit nodes come in time. A running round is left alone.

## Progress

`MUSTER_PROGRESS_SOCKET` is a Unix datagram socket of the worker's own. It may
send lines there in the manner of sd_notify(3), several to a datagram, which
`launch status` and `launch watch` show:

| line | says |
|---|---|
| `STEP=1200` | the last step that was finished |
| `LOSS=2.31` | any number, `nan` too |
| `TOKENS_PER_S=51000` | of this worker |
| `STATUS=warming up` | for people, 64 bytes |
| `WATCHDOG=1` | it lives |
| `WATCHDOG_S=30` | from now on a silence of more than 30 s is a hang; 0: never |

`launch watch` looks every five seconds and prints what is new: the job's steps
and mean loss and all its tokens/s on one line, and below it a line for each
rank; of more than eight ranks the slowest and the fastest (by step, then by
tokens/s). That a rank has been silent for ten seconds is printed once. With
`--json` there is the job's line only; `launch status --json` has the ranks.

```
2026-11-21 07:51:33 UTC  round 1  progress  steps 104 to 118 (median 118), rank 1 is the last; loss 0.7366; 99000 tokens/s
    rank 0  step 118             loss 0.7184  50000 tokens/s
    rank 1  step 104  14 behind  loss 0.7547  49000 tokens/s
```

A worker that has reported in this round and then is silent past its deadline
has hung: `WATCHDOG_S`, else `--hang-timeout`. Before anything is stopped its
stack is taken (Python's frames by py-spy, native ones by gdb, where these are
installed and may trace, and what /proc tells), with those of this node's other
workers, into `stack.txt` in each one's log folder; then it counts as a failed
worker, the verdict's cause with where it hung. Nothing is executed in a worker
for that; gdb stops it while it looks. A worker that dies while its stack is
taken has hung all the same. py-spy is looked for in the PATH of `launch`, beside
`launch`, and where `tools/setup_py_spy` puts it (`MUSTER_PY_SPY_DIR`, else
`~/.cache/muster/py-spy`); without it one line says so.

Peers that wait for a hung worker fall silent with it, often within milliseconds
and in any order. Blamed is the worker that /proc shows as stopped by a signal
(SIGSTOP, a terminal's Ctrl-Z), then one that waits uninterruptibly for a disk
or a driver, also across nodes for the stopped one. Where nothing tells them
apart the one that fell silent first is named, and the message says how many
fell silent together with it: the first need not be the cause then, and `launch
inspect` of the round's log folder shows who waited for whom.

## Timers

With `TORCHELASTIC_ENABLE_FILE_TIMER=1` the agent serves
`torch.distributed.elastic.timer`: a worker that configures
`FileTimerClient(os.environ['TORCHELASTIC_TIMER_FILE'])` wraps what may get stuck
in `with timer.expires(after=60):`. A process of this node's workers whose timer
expires gets the timer's signal (SIGKILL); the worker counts as failed, and the
verdict names the timer.

## The store

`MASTER_ADDR:MASTER_PORT` is the round's key-value store, which the agent of
group rank 0 serves to PyTorch and to the training library
([STORE.md](STORE.md)); with `--worker-store` nobody listens there until rank
0's worker does.
)";

// Which flags have no PET_ variable, as lines of the list's item on them.
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

// A table's cell must not hold a bar.
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
      const bool has_default =
          flag.kind == FlagKind::kValue && flag.fallback[0] != '\0';
      absl::StrAppend(
          &rows, "| `", Cell(FlagUsage(flag)), "` | ",
          has_default ? absl::StrCat("`", flag.fallback, "`") : std::string(),
          " | ", Cell(flag.help),
          flag.user == FlagUser::kLaunchOnly ? " (`launch` only)" : "", " |\n");
    }
    if (rows.empty()) continue;
    absl::StrAppend(&text, "### ", GroupTitle(static_cast<FlagGroup>(group)),
                    "\n\n| flag | default | meaning |\n|---|---|---|\n", rows,
                    "\n");
  }
}

}  // namespace

std::string CliReference() {
  std::string text = absl::StrCat(
      kHead, WithoutVariable(FlagsOf(FlagUser::kLaunchOnly)), kReading);
  absl::StrAppend(&text, "## Examples\n\n");
  for (const auto& [command, meaning] : Examples()) {
    absl::StrAppend(&text, meaning, "\n\n```\n", command, "\n```\n\n");
  }
  absl::StrAppend(&text, "## Flags\n\n");
  AppendFlags(FlagsOf(FlagUser::kLaunchOnly), text);
  absl::StrAppend(&text, "## Sub-commands\n\n",
                  "A sub-command is taken as such only as the first argument; "
                  "a program of that name\nis run as `./status`.\n\n",
                  "| command | meaning |\n|---|---|\n");
  for (const Subcommand& subcommand : Subcommands()) {
    absl::StrAppend(&text, "| `launch ", subcommand.name, " ",
                    Cell(subcommand.arguments), "` | ", subcommand.summary,
                    " |\n");
  }
  absl::StrAppend(&text,
                  "\nFlags of `status`, `watch`, `cancel` and `drain`:\n\n"
                  "| flag | meaning |\n|---|---|\n");
  for (const Flag& flag : AdminFlags()) {
    absl::StrAppend(&text, "| `", Cell(FlagUsage(flag)), "` | ",
                    Cell(flag.help), " |\n");
  }
  absl::StrAppend(&text, "\n## Exit status\n\n| code | meaning |\n|---|---|\n");
  for (const auto& [code, meaning] : ExitCodes()) {
    absl::StrAppend(&text, "| ", code, " | ", meaning, " |\n");
  }
  return absl::StrCat(text, "\n", kTail);
}

}  // namespace muster
