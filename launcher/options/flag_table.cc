#include "launcher/options/flag_table.h"

namespace muster::launcher {
namespace {

using enum FlagKind;
using enum FlagGroup;
using enum FlagUser;
using enum PetVariable;

// A constant: nothing is built when the program starts.
constexpr Flag kFlags[] = {
    {"nnodes", 0, kValue, "N|MIN:MAX", "1:1", kRead, kCluster, kLaunchAndAgent,
     "",
     "Number of nodes, or minimum and maximum. With a range the job waits for "
     "MIN nodes and a last call for more, and continues when nodes join or "
     "leave."},
    {"standalone", 0, kSwitch, "", "0", kRead, kCluster, kLaunchOnly, "",
     "One node on its own: the coordinator listens on loopback on a free "
     "port and the run id is a fresh UUID. --rdzv-backend, --rdzv-endpoint and "
     "--rdzv-id are ignored."},
    {"rdzv-endpoint", 0, kValue, "HOST[:PORT]", "", kRead, kCluster,
     kLaunchAndAgent, "",
     "Where the nodes meet; the port defaults to 29400. The node that owns "
     "HOST's address hosts the coordinator, the others connect. IPv6: "
     "[ADDRESS]:PORT."},
    {"rdzv-id", 0, kValue, "ID", "none", kRead, kCluster, kLaunchAndAgent, "",
     "The run id: the job's name, equal on every node."},
    {"rdzv-backend", 0, kValue, "NAME", "static", kRead, kCluster,
     kLaunchAndAgent, "static c10d muster",
     "static: nodes meet at --master-addr:--master-port unless "
     "--rdzv-endpoint is given. c10d, muster: nodes meet at --rdzv-endpoint "
     "(localhost:29400 if not given). The same coordinator serves all three."},
    {"rdzv-conf", 0, kValue, "KEY=VALUE,...", "", kRead, kCluster,
     kLaunchAndAgent, "",
     "Fine tuning, seconds where it is a time: join_timeout (600), "
     "rejoin_timeout (how long fewer nodes than are needed wait after a loss: "
     "30 in a Slurm step, which starts none again, else join_timeout), "
     "last_call_timeout (30), close_timeout (30), keep_alive_interval (2), "
     "keep_alive_max_attempt (5), read_timeout (the same as "
     "--connect-timeout), timeout (the same as join_timeout), is_host (0 or 1: "
     "whether this node hosts the coordinator), mixed_nodes (1 on every node: "
     "programs, arguments and numbers of workers may differ between nodes; "
     "otherwise a node with another command is refused as another job's)."},
    {"node-rank", 0, kValue, "N", "", kRead, kCluster, kLaunchAndAgent, "",
     "This node's rank among the nodes: used as given, or refused with a "
     "reason. In a static job rank 0 hosts the coordinator."},
    {"master-addr", 0, kValue, "HOST", "127.0.0.1", kRead, kCluster,
     kLaunchOnly, "",
     "Static jobs: the host of node rank 0, where the coordinator listens."},
    {"master-port", 0, kValue, "PORT", "29500", kRead, kCluster, kLaunchOnly,
     "",
     "Static jobs: the coordinator's port. On a single node: the port that "
     "workers find as MASTER_PORT (a free one if not given)."},
    {"store-port", 0, kValue, "PORT", "0", kRead, kCluster, kLaunchAndAgent, "",
     "The port of the workers' store on rank 0's node, which workers find as "
     "MASTER_PORT: for a firewall that lets only named ports through. 0: a "
     "free port, another one each round."},
    {"local-addr", 0, kValue, "HOST", "", kRead, kCluster, kLaunchAndAgent, "",
     "The address at which peers connect to this node, if it is not the one "
     "that reaches the coordinator."},
    {"node-id", 0, kValue, "NAME", "", kRead, kCluster, kLaunchAndAgent, "",
     "This node's name in the job; it stays the same when the agent is started "
     "again."},
    {"token-file", 0, kValue, "FILE", "", kRead, kCluster, kLaunchAndAgent,
     "<file>",
     "A file that holds the job's shared secret; MUSTER_TOKEN in the "
     "environment does the same. Without a secret every machine that reaches "
     "the port can join."},
    {"connect-timeout", 0, kValue, "SECONDS", "60", kRead, kCluster,
     kLaunchAndAgent, "",
     "Limit for the first connection to the coordinator, including the "
     "resolution of its name."},
    {"coordinator-timeout", 0, kValue, "SECONDS", "60", kRead, kCluster,
     kLaunchAndAgent, "",
     "How long workers continue while the coordinator cannot be reached."},
    {"cluster", 0, kValue, "MODE", "auto", kRead, kCluster, kLaunchAndAgent,
     "auto none slurm kubernetes",
     "The source of settings that are not given (nodes, ranks, endpoint, "
     "workers, run id). auto: the environment of Slurm or Kubernetes if this "
     "process is in one of their jobs; none: no cluster."},
    {"topology", 0, kValue, "KEY=VALUE,...", "", kRead, kCluster,
     kLaunchAndAgent, "",
     "This node's place in the network, from the outermost to the innermost "
     "switch, such as block=b1,rack=r7: nodes with equal labels get "
     "neighbouring ranks. Default: the labels from Slurm or Kubernetes."},
    {"config", 0, kValue, "FILE", "", kNone, kCluster, kLaunchOnly, "<file>",
     "A YAML file with values of flags: Muster's own form, Accelerate's "
     "default_config.yaml, or a file with InstructLab's train: section. The "
     "command line and PET_ variables override it. launch config writes and "
     "shows such a file."},

    {"slurm", 0, kSwitch, "", "0", kNone, kRemote, kLaunchOnly, "",
     "In a Slurm allocation, without srun: start an agent on each of its "
     "nodes."},
    {"hostfile", 0, kValue, "FILE", "", kNone, kRemote, kLaunchOnly, "<file>",
     "Start an agent over ssh on each host of FILE: lines of HOST, HOST "
     "slots=N (DeepSpeed, Open MPI) or HOST:N (MPICH)."},
    {"include", 0, kValue, "HOSTS", "", kNone, kRemote, kLaunchOnly, "",
     "Use only these hosts and slots of --hostfile: "
     "HOST[:SLOT,...][@HOST...]."},
    {"exclude", 0, kValue, "HOSTS", "", kNone, kRemote, kLaunchOnly, "",
     "Use all hosts and slots of --hostfile except these."},
    {"export", 0, kValue, "LIST", "", kNone, kRemote, kLaunchOnly, "",
     "More variables that --hostfile sends to the other nodes: names, prefixes "
     "such as MY_*, or NAME=VALUE."},
    {"ssh-args", 0, kValue, "TEXT", "", kNone, kRemote, kLaunchOnly, "",
     "More arguments of ssh, such as '-p 2222 -i key'."},
    {"ssh-timeout", 0, kValue, "SECONDS", "30", kNone, kRemote, kLaunchOnly, "",
     "Limit for reaching a host and for its answer."},
    {"ssh-fan-out", 0, kValue, "N", "32", kNone, kRemote, kLaunchOnly, "",
     "Number of hosts that one machine starts itself; these hosts start the "
     "next ones."},

    {"nproc-per-node", 0, kValue, "N|gpu|cpu|auto", "1", kRead, kWorkers,
     kLaunchAndAgent, "gpu cpu auto 1 2 4 8",
     "Workers on this node: a number, one for each GPU or each core, or auto "
     "(GPUs if there are any, else cores)."},
    {"gpus", 0, kValue, "LIST", "", kRead, kWorkers, kLaunchAndAgent, "",
     "The GPUs to use, such as 0,2 or GPU and MIG ids: worker n sees the n-th "
     "as its only one. Not given: all workers see all GPUs and choose by "
     "LOCAL_RANK."},
    {"virtual-local-rank", 0, kSwitch, "", "0", kRead, kWorkers,
     kLaunchAndAgent, "",
     "LOCAL_RANK is 0 for every worker and CUDA_VISIBLE_DEVICES holds its one "
     "GPU: the n-th of CUDA_VISIBLE_DEVICES (or HIP_VISIBLE_DEVICES, which is "
     "then set as well) where that is set, else n."},
    {"module", 'm', kSwitch, "", "0", kRead, kWorkers, kLaunchAndAgent, "",
     "PROGRAM is a Python module, run as with python -m."},
    {"python", 0, kSwitch, "", "0", kRead, kWorkers, kLaunchAndAgent, "",
     "Run PROGRAM under Python whatever its name ends in, as torchrun does. "
     "--module, --no-python and --run-path go before it. In PROGRAM's "
     "arguments ${local_rank} is then the worker's local rank."},
    {"no-python", 0, kSwitch, "", "0", kRead, kWorkers, kLaunchAndAgent, "",
     "Execute PROGRAM itself even if its name ends in .py."},
    {"run-path", 0, kSwitch, "", "0", kRead, kWorkers, kLaunchAndAgent, "",
     "Run PROGRAM, a Python file, with runpy.run_path. Takes precedence over "
     "--no-python."},
    {"stdin", 0, kValue, "auto|none|all|RANK", "auto", kRead, kWorkers,
     kLaunchAndAgent, "auto none all 0",
     "The worker that reads standard input, including a terminal's keys: a "
     "local rank, all, or none. auto: local rank 0, but none in a Slurm step "
     "or a pod. The other workers read /dev/null."},
    {"role", 0, kValue, "NAME", "default", kRead, kWorkers, kLaunchAndAgent, "",
     "The workers' role, ROLE_NAME in their environment."},
    {"numa-binding", 0, kValue, "MODE", "", kNone, kWorkers, kLaunchAndAgent,
     "node socket exclusive core-complex",
     "Bind each worker to cores and memory near its GPU: node (all of the "
     "GPU's NUMA node), socket (of its socket), exclusive (a share of the "
     "node's cores that no other worker has), core-complex (one last-level "
     "cache's). Without GPUs workers are spread evenly. See BINDING.md."},

    {"framework-env", 0, kValue, "LIST", "", kRead, kWorkers, kLaunchAndAgent,
     "tf jax mpi deepspeed accelerate",
     "Variables of other launchers that workers get in addition to torchrun's: "
     "tf (TF_CONFIG), jax (JAX_COORDINATOR_ADDRESS and the variables of "
     "jax.distributed.initialize()), mpi (OMPI_COMM_WORLD_*, PMI_*), deepspeed "
     "(CROSS_RANK, CROSS_SIZE, LOCAL_SIZE), accelerate (ACCELERATE_*)."},
    {"local-rank-flag", 0, kValue, "NAME", "", kRead, kWorkers, kLaunchAndAgent,
     "local_rank local-rank",
     "Every program gets --NAME=N, its local rank, before its own arguments: "
     "local_rank as under DeepSpeed's launcher, local-rank as under "
     "torch.distributed.launch."},

    {"max-restarts", 0, kValue, "N", "0", kRead, kRestarts, kLaunchAndAgent, "",
     "Number of worker failures that the whole job survives. Nodes that join "
     "or leave are not counted."},
    {"wait-for-replacement", 0, kValue, "SECONDS", "0", kRead, kRestarts,
     kLaunchAndAgent, "",
     "How long the job waits for another node after a loss, although enough "
     "nodes are left."},
    {"scale-up", 0, kValue, "WHEN", "restart", kRead, kRestarts,
     kLaunchAndAgent, "never restart",
     "When a node joins a running job that has room: restart the round with "
     "it, or never (the node stays a spare)."},
    {"scale-up-cooldown", 0, kValue, "SECONDS", "10", kRead, kRestarts,
     kLaunchAndAgent, "",
     "Minimum duration of a round before it is ended to let a node join."},

    {"worker-store", 0, kSwitch, "", "0", kRead, kWorkers, kLaunchAndAgent, "",
     "The worker of rank 0 serves the workers' key-value store, as under plain "
     "env://, instead of the agent of its node. For scripts that bind "
     "MASTER_PORT themselves."},
    {"local-store", 0, kSwitch, "", "0", kRead, kWorkers, kLaunchAndAgent, "",
     "Workers reach the store through this node's agent, which merges their "
     "equal waits and reads: rank 0's node has one connection for each node. "
     "MASTER_ADDR is then 127.0.0.1."},
    {"hang-timeout", 0, kValue, "SECONDS|auto|off", "auto", kRead, kRestarts,
     kLaunchAndAgent, "auto off",
     "A worker that has reported progress (MUSTER_PROGRESS_SOCKET) in this "
     "round and is then silent for this time counts as failed; its stack is "
     "taken first. auto: ten times the longest pause between its reports, at "
     "least five minutes, known after five pauses. A worker's own WATCHDOG_S "
     "overrides this. A worker that never reports never hangs."},

    {"health-command", 0, kValue, "COMMAND", "", kRead, kHealth,
     kLaunchAndAgent, "",
     "A shell command that runs on this node before every round. An exit code "
     "other than 0 keeps the node out, with the command's last line as the "
     "reason; the command is repeated until it succeeds."},
    {"health-checks", 0, kValue, "LIST", "", kRead, kHealth, kLaunchAndAgent,
     "all none gpu disk memory shm",
     "Built-in checks before every round: gpu, disk, memory, shm, or all."},
    {"health-timeout", 0, kValue, "SECONDS", "60", kRead, kHealth,
     kLaunchAndAgent, "", "Limit for one check; a slower check has failed."},
    {"health-interval", 0, kValue, "SECONDS", "30", kRead, kHealth,
     kLaunchAndAgent, "", "Time until a failed check is repeated."},
    {"probe-listen", 0, kValue, "HOST:PORT", "", kRead, kHealth,
     kLaunchAndAgent, "",
     "Serve /livez, /readyz and /startupz over HTTP here, such as "
     "0.0.0.0:8080 in a pod."},

    {"log-dir", 0, kValue, "DIR", "", kRead, kOutput, kLaunchAndAgent,
     "<directory>",
     "Where log files go: DIR/RUN/attempt_N/RANK/{stdout,stderr}.log. RUN is a "
     "fresh name that begins with the run id, the same on all nodes. "
     "DIR/latest "
     "leads to the newest. Not given: a temporary folder."},
    {"redirects", 'r', kValue, "STREAMS", "0", kRead, kOutput, kLaunchAndAgent,
     "0 1 2 3",
     "Keep workers' streams from the console: 0 none, 1 stdout, 2 stderr, 3 "
     "both, or by local rank, such as 0:1,1:2."},
    {"tee", 't', kValue, "STREAMS", "0", kRead, kOutput, kLaunchAndAgent,
     "0 1 2 3",
     "Streams that reach both file and console; numbers as of --redirects."},
    {"log-line-prefix-template", 0, kValue, "TEXT", "", kRead, kOutput,
     kLaunchAndAgent, "",
     "The prefix of a worker's lines on the console; ${role_name}, "
     "${local_rank}, ${rank} and ${hostname} are replaced. Default: "
     "TORCHELASTIC_LOG_LINE_PREFIX_TEMPLATE, else [node:rank] and a space."},
    {"local-ranks-filter", 0, kValue, "LIST", "", kRead, kOutput,
     kLaunchAndAgent, "",
     "The local ranks whose output reaches the console, such as 0,1. Not "
     "given: all."},
    {"console", 0, kValue, "MODE", "wait", kRead, kOutput, kLaunchAndAgent,
     "wait drop",
     "wait: a slow console slows the workers, as a pipe does, and launch waits "
     "for it at the end until it has taken nothing for 60 s (wait:SECONDS: "
     "another time). drop: workers never wait; output that exceeds 4 MiB of "
     "backlog is dropped and counted."},
    {"duplicate-stdout-filters", 0, kValue, "LIST", "", kRead, kOutput,
     kLaunchAndAgent, "",
     "Lines of stdout that contain one of these texts are copied to "
     "filtered_stdout.log. Commas separate the texts; write a comma in a text "
     "twice."},
    {"duplicate-stderr-filters", 0, kValue, "LIST", "", kRead, kOutput,
     kLaunchAndAgent, "", "The same for stderr and filtered_stderr.log."},
    {"log-rotate-mb", 0, kValue, "MIB", "256", kRead, kOutput, kLaunchAndAgent,
     "",
     "A log file that reaches this size is rotated; four older ones are kept, "
     "and the number of deleted bytes is printed at the end. 0: never. Not "
     "given: files of streams that the console does not show (--redirects, "
     "--local-ranks-filter, --console=drop) are never rotated."},
    {"quiet", 0, kSwitch, "", "0", kRead, kOutput, kLaunchAndAgent, "",
     "Print only errors and the verdict of a failed job, no other messages of "
     "Muster."},

    {"signals-to-handle", 0, kValue, "LIST", "SIGTERM,SIGINT,SIGHUP,SIGQUIT",
     kRead, kStopping, kLaunchAndAgent, "",
     "Signals that stop the job: each worker gets the same signal and has "
     "--shutdown-timeout to end. A second signal stops the job at once. A "
     "signal that is ignored when launch starts (SIGHUP under nohup, SIGINT of "
     "a background job of sh) stays ignored, also by the workers."},
    {"signals-to-forward", 0, kValue, "LIST", "", kRead, kStopping,
     kLaunchAndAgent, "",
     "Signals that are sent to every worker of the job, which continues, such "
     "as SIGUSR1. They take precedence over --signals-to-handle."},
    {"signals-to-leave", 0, kValue, "LIST", "", kRead, kStopping,
     kLaunchAndAgent, "",
     "Signals on which only this node leaves while the job continues, such as "
     "SIGTERM for evicted pods."},
    {"shutdown-timeout", 0, kValue, "SECONDS", "30", kRead, kStopping,
     kLaunchAndAgent, "",
     "Time from the first signal to a worker until SIGKILL. Default: "
     "TORCH_ELASTIC_SHUTDOWN_TIMEOUT in the environment, else 30."},

    {"signals-to-preempt", 0, kValue, "LIST", "", kRead, kPreemption,
     kLaunchAndAgent, "",
     "Signals by which a cluster announces that it will take the nodes away: "
     "every worker of the job gets a notice and may write a checkpoint, and "
     "the job ends with status 75. Under Slurm: SIGUSR1,SIGTERM."},
    {"preempt-signal", 0, kValue, "SIGNAL", "SIGTERM", kRead, kPreemption,
     kLaunchAndAgent, "",
     "The signal that workers get at a preemption; 0: no signal, only the file "
     "that MUSTER_PREEMPTION_FILE names."},
    {"preempt-grace", 0, kValue, "SECONDS", "120", kRead, kPreemption,
     kLaunchAndAgent, "",
     "How long workers may run after the notice; then they are stopped, with "
     "--shutdown-timeout."},
    {"on-preempt", 0, kValue, "COMMAND", "", kRead, kPreemption,
     kLaunchAndAgent, "",
     "A shell command that runs on each node after the notice, with "
     "MUSTER_PREEMPTION_SIGNAL and more in its environment. Its output is "
     "shown only if it fails."},
    {"requeue", 0, kSwitch, "", "0", kRead, kPreemption, kLaunchAndAgent, "",
     "After a preemption one node (rank 0's if it is left) requeues the Slurm "
     "job (scontrol requeue)."},

    {"monitor-interval", 0, kValue, "SECONDS", "0.1", kRead, kAccepted,
     kLaunchAndAgent, "",
     "Without effect: workers are not polled, and their end is noticed at "
     "once."},
    {"start-method", 0, kValue, "METHOD", "spawn", kRead, kAccepted,
     kLaunchAndAgent, "spawn fork forkserver",
     "Without effect: each worker is always a new program."},
    {"logs-specs", 0, kValue, "NAME", "", kNone, kAccepted, kLaunchAndAgent, "",
     "Only default is accepted, because Python plug-ins for logs are not "
     "loaded."},
    {"event-log-handler", 0, kValue, "NAME", "null", kRead, kAccepted,
     kLaunchAndAgent, "",
     "null and console are accepted without effect: events are written to "
     "events.jsonl in the log folder. Other names are refused, because Python "
     "handlers are not loaded."},

    {"help", 'h', kSwitch, "", "", kNone, kGeneral, kLaunchAndAgent, "",
     "Show this text."},
    {"version", 0, kSwitch, "", "", kNone, kGeneral, kLaunchAndAgent, "",
     "Show the version."},
    {"print-completion", 0, kValue, "SHELL", "", kNone, kGeneral, kLaunchOnly,
     "bash zsh fish",
     "Print a shell's completion script, as launch completion does."},
};

}  // namespace

std::vector<Flag> FlagsOf(FlagUser user) {
  std::vector<Flag> flags;
  for (const Flag& flag : kFlags) {
    if (user == kLaunchOnly || flag.user == kLaunchAndAgent) {
      flags.push_back(flag);
    }
  }
  return flags;
}

const Flag* FindFlag(const std::vector<Flag>& flags, const std::string& name) {
  for (const Flag& flag : flags) {
    if (name == flag.name) return &flag;
  }
  return nullptr;
}

}  // namespace muster::launcher
