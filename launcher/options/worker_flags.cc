// The flags for a node's workers: program, number, GPUs and cores, restarts,
// health checks.
#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "launcher/options/flag_table.h"
#include "launcher/options/option_values.h"
#include "launcher/options/run_options.h"
#include "rendezvous/probes/metrics_file.h"

namespace muster::launcher {
namespace {

using Text = const std::string&;

absl::StatusOr<std::string> ReadWorkersPerNode(Text text) {
  if (text == "gpu" || text == "cpu" || text == "auto") return text;
  const absl::StatusOr<int64_t> number = ReadNumber(text, 1, 4096);
  if (number.ok()) return text;
  return absl::InvalidArgumentError(
      text == "xpu" ? "xpu devices are not counted; write their number"
                    : "is neither a number from 1 to 4096 nor gpu, cpu or "
                      "auto; write for example 2");
}

absl::StatusOr<std::vector<std::string>> ReadGpus(Text text) {
  std::vector<std::string> gpus = ReadList(text);
  if (!gpus.empty()) return gpus;
  return absl::InvalidArgumentError("names no GPU; write for example 0,1");
}

// Reads a switch that chooses the interpreter, such as --python. If several
// such switches are on, the later enumerator of Interpreter takes precedence.
absl::Status SetInterpreter(RunOptions& options, Text text,
                            Interpreter interpreter) {
  const absl::StatusOr<bool> on = ReadSwitch(text);
  if (!on.ok()) return on.status();
  if (*on) options.interpreter = std::max(options.interpreter, interpreter);
  return absl::OkStatus();
}

absl::StatusOr<agent::Binding> ReadBinding(Text text) {
  if (text.empty()) return agent::Binding::kNone;
  if (text == "node") return agent::Binding::kNode;
  if (text == "socket") return agent::Binding::kSocket;
  if (text == "exclusive") return agent::Binding::kExclusive;
  if (text == "core-complex") return agent::Binding::kCoreComplex;
  return absl::InvalidArgumentError(
      "is no binding; write node, socket, exclusive or core-complex");
}

absl::StatusOr<std::vector<agent::FrameworkEnv>> ReadFrameworkEnvs(Text text) {
  static const auto& known = *new std::map<std::string, agent::FrameworkEnv>{
      {"tf", agent::FrameworkEnv::kTensorFlow},
      {"jax", agent::FrameworkEnv::kJax},
      {"mpi", agent::FrameworkEnv::kMpi},
      {"deepspeed", agent::FrameworkEnv::kDeepSpeed},
      {"accelerate", agent::FrameworkEnv::kAccelerate}};
  std::vector<agent::FrameworkEnv> framework_envs;
  for (const std::string& word : ReadList(text)) {
    const auto found = known.find(word);
    if (found == known.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat("'", word,
                       "' is no framework environment; write one or more of "
                       "tf,jax,mpi,deepspeed,accelerate"));
    }
    framework_envs.push_back(found->second);
  }
  return framework_envs;
}

absl::StatusOr<rendezvous::ScaleUp> ReadScaleUp(Text text) {
  const absl::StatusOr<std::string> word =
      ReadChoice(text, {"never", "restart"});
  if (!word.ok()) return word.status();
  return *word == "never" ? rendezvous::ScaleUp::kNever
                          : rendezvous::ScaleUp::kRestart;
}

absl::StatusOr<rendezvous::NetworkCheckTime> ReadNetworkCheck(Text text) {
  using rendezvous::NetworkCheckTime;
  const absl::StatusOr<std::string> word =
      ReadChoice(text, {"never", "start", "suspicion"});
  if (!word.ok()) return word.status();
  return *word == "never"   ? NetworkCheckTime::kNever
         : *word == "start" ? NetworkCheckTime::kStart
                            : NetworkCheckTime::kSuspicion;
}

absl::StatusOr<agent::HangPolicy> ReadHangPolicy(Text text) {
  if (text == "auto")
    return agent::HangPolicy{agent::HangDetection::kLearned, {}};
  if (text == "off") return agent::HangPolicy{agent::HangDetection::kOff, {}};
  const absl::StatusOr<Duration> timeout = ReadSeconds(text);
  if (!timeout.ok() || *timeout == Duration::zero()) {
    return absl::InvalidArgumentError(
        "is neither a number of seconds above 0 nor auto or off; write for "
        "example 600");
  }
  return agent::HangPolicy{agent::HangDetection::kGiven, *timeout};
}

absl::StatusOr<std::vector<std::string>> ReadChecks(Text text) {
  const std::vector<std::string> known = {"gpu", "disk", "memory", "shm"};
  if (text == "all") return known;
  if (text == "none") return std::vector<std::string>{};
  std::vector<std::string> checks = ReadList(text);
  for (const std::string& check : checks) {
    if (std::find(known.begin(), known.end(), check) == known.end()) {
      return absl::InvalidArgumentError(absl::StrCat(
          check, " is no check; write all, none, or of gpu,disk,memory,shm"));
    }
  }
  return checks;
}

// constexpr, so that the table needs no initialization when the program starts.
constexpr Flag kFlags[] = {
    {.name = "nproc-per-node",
     .value = "N|gpu|cpu|auto",
     .default_text = "1",
     .group = FlagGroup::kWorkers,
     .help = "Workers on this node: a number, one for each GPU or each "
             "core, or auto (GPUs if there are any, else cores).",
     .completions = "gpu cpu auto 1 2 4 8",
     .read =
         [](Text t, RunOptions& o) {
           return Set(o.workers_per_node, ReadWorkersPerNode(t));
         }},
    {.name = "gpus",
     .value = "LIST",
     .group = FlagGroup::kWorkers,
     .help = "The GPUs to use, such as 0,2 or GPU and MIG ids: worker n "
             "sees the n-th as its only one. Not given: all workers see "
             "all GPUs and choose by LOCAL_RANK.",
     .read = [](Text t, RunOptions& o) { return Set(o.gpus, ReadGpus(t)); }},
    {.name = "virtual-local-rank",
     .group = FlagGroup::kWorkers,
     .help = "LOCAL_RANK is 0 for every worker and CUDA_VISIBLE_DEVICES "
             "holds its one GPU: the n-th of CUDA_VISIBLE_DEVICES (or "
             "HIP_VISIBLE_DEVICES, which is then set as well) where that "
             "is set, else n.",
     .read =
         [](Text t, RunOptions& o) {
           return Set(o.local_ranks,
                      ReadEither(t, LocalRanks::kReal, LocalRanks::kVirtual));
         }},
    {.name = "module",
     .letter = 'm',
     .group = FlagGroup::kWorkers,
     .help = "PROGRAM is a Python module, run as with python -m.",
     .read =
         [](Text t, RunOptions& o) {
           return SetInterpreter(o, t, Interpreter::kModule);
         }},
    {.name = "python",
     .group = FlagGroup::kWorkers,
     .help = "Run PROGRAM under Python whatever its name ends in, as "
             "torchrun does. --module, --no-python and --run-path go "
             "before it. In PROGRAM's arguments ${local_rank} is then "
             "the worker's local rank.",
     .read = [](Text t, RunOptions& o) -> absl::Status {
       const absl::Status set = Set(o.expands_local_rank, ReadSwitch(t));
       return set.ok() ? SetInterpreter(o, t, Interpreter::kPython) : set;
     }},
    {.name = "no-python",
     .group = FlagGroup::kWorkers,
     .help = "Execute PROGRAM itself even if its name ends in .py.",
     .read =
         [](Text t, RunOptions& o) {
           return SetInterpreter(o, t, Interpreter::kNoPython);
         }},
    {.name = "run-path",
     .group = FlagGroup::kWorkers,
     .help = "Run PROGRAM, a Python file, with runpy.run_path. Takes "
             "precedence over --no-python.",
     .read =
         [](Text t, RunOptions& o) {
           return SetInterpreter(o, t, Interpreter::kRunPath);
         }},
    {.name = "stdin",
     .value = "auto|none|all|RANK",
     .default_text = "auto",
     .group = FlagGroup::kWorkers,
     .help = "The worker that reads standard input, including a "
             "terminal's keys: a local rank, all, or none. auto: local "
             "rank 0, but none in a Slurm step or a pod. The other "
             "workers read /dev/null.",
     .completions = "auto none all 0",
     .read =
         [](Text t, RunOptions& o) {
           return Set(o.input, agent::ParseWorkerInput(t));
         }},
    {.name = "role",
     .value = "NAME",
     .default_text = "default",
     .group = FlagGroup::kWorkers,
     .help = "The workers' role, ROLE_NAME in their environment.",
     .read = [](Text t, RunOptions& o) { return Set(o.role, ReadName(t)); }},
    {.name = "numa-binding",
     .value = "MODE",
     .group = FlagGroup::kWorkers,
     .help = "Bind each worker to cores and memory near its GPU: node "
             "(all of the GPU's NUMA node), socket (of its socket), "
             "exclusive (a share of the node's cores that no other "
             "worker has), core-complex (one last-level cache's). "
             "Without GPUs workers are spread evenly. See BINDING.md.",
     .completions = "node socket exclusive core-complex",
     .pet = PetVariable::kNone,
     .read = [](Text t,
                RunOptions& o) { return Set(o.binding, ReadBinding(t)); }},
    {.name = "framework-env",
     .value = "LIST",
     .group = FlagGroup::kWorkers,
     .help = "Variables of other launchers that workers get in addition "
             "to torchrun's: tf (TF_CONFIG), jax "
             "(JAX_COORDINATOR_ADDRESS and the variables of "
             "jax.distributed.initialize()), mpi (OMPI_COMM_WORLD_*, "
             "PMI_*), deepspeed (CROSS_RANK, CROSS_SIZE, LOCAL_SIZE), "
             "accelerate (ACCELERATE_*).",
     .completions = "tf jax mpi deepspeed accelerate",
     .read =
         [](Text t, RunOptions& o) {
           return Set(o.framework_envs, ReadFrameworkEnvs(t));
         }},
    {.name = "local-rank-flag",
     .value = "NAME",
     .group = FlagGroup::kWorkers,
     .help = "Every program gets --NAME=N, its local rank, before its "
             "own arguments: local_rank as under DeepSpeed's launcher, "
             "local-rank as under torch.distributed.launch.",
     .completions = "local_rank local-rank",
     .read =
         [](Text t, RunOptions& o) {
           return Set(o.local_rank_flag,
                      ReadChoice(t, {"", "local_rank", "local-rank"}));
         }},
    {.name = "worker-store",
     .group = FlagGroup::kWorkers,
     .help = "The worker of rank 0 serves the workers' key-value store, "
             "as under plain env://, instead of the agent of its node. "
             "For scripts that bind MASTER_PORT themselves.",
     .variable = "TORCH_DISABLE_SHARE_RDZV_TCP_STORE",
     .variable_text = "1",
     .read =
         [](Text t, RunOptions& o) {
           return Set(o.spec.store_host,
                      ReadEither(t, rendezvous::StoreHost::kAgent,
                                 rendezvous::StoreHost::kWorker));
         }},
    {.name = "local-store",
     .group = FlagGroup::kWorkers,
     .help = "Workers reach the store through this node's agent, which "
             "merges their equal waits and reads: rank 0's node has one "
             "connection for each node. MASTER_ADDR is then 127.0.0.1, and on "
             "rank 0's node the address of the store.",
     .read =
         [](Text t, RunOptions& o) {
           return Set(o.store_path,
                      ReadEither(t, agent::StorePath::kDirect,
                                 agent::StorePath::kThroughAgent));
         }},
    {.name = "encrypt",
     .value = "WHAT",
     .default_text = "none",
     .group = FlagGroup::kWorkers,
     .help =
         "workers: the connections between nodes that Muster's own "
         "programs make for workers (the training library's TCP transport, "
         "and the store, as with --local-store) are encrypted and "
         "authenticated with a key of the round, which comes from the "
         "coordinator. Needs a token or --tls-cert if the coordinator is on "
         "another machine. Other libraries' connections "
         "(NCCL, Gloo, MPI) stay in clear text: see SECURITY.md.",
     .completions = "none workers",
     .variable = "MUSTER_ENCRYPT",
     .read =
         [](Text t, RunOptions& o) {
           const absl::StatusOr<std::string> what =
               ReadChoice(t, {"none", "workers"});
           if (!what.ok()) return what.status();
           o.spec.encryption = *what == "workers"
                                   ? rendezvous::Encryption::kWorkers
                                   : rendezvous::Encryption::kNone;
           return absl::OkStatus();
         }},
    {.name = "profile-collectives",
     .group = FlagGroup::kWorkers,
     .help = "NCCL in the workers loads Muster's profiler plug-in "
             "(NCCL_PROFILER_PLUGIN), so that slow ranks are found in any "
             "program that uses NCCL 2.26 or newer.",
     .read =
         [](Text t, RunOptions& o) {
           return Set(o.profiles_collectives, ReadSwitch(t));
         }},
    {.name = "max-restarts",
     .value = "N",
     .default_text = "0",
     .group = FlagGroup::kRestarts,
     .help = "Number of worker failures that the whole job survives. "
             "Nodes that join or leave are not counted.",
     .read =
         [](Text t, RunOptions& o) {
           return Set(o.spec.max_restarts, ReadNumber(t, 0, 1'000'000));
         }},
    {.name = "wait-for-replacement",
     .value = "SECONDS",
     .default_text = "0",
     .group = FlagGroup::kRestarts,
     .help = "How long the job waits for another node after a loss, "
             "although enough nodes are left.",
     .read =
         [](Text t, RunOptions& o) {
           return Set(o.spec.wait_for_replacement, ReadSeconds(t));
         }},
    {.name = "scale-up",
     .value = "WHEN",
     .default_text = "restart",
     .group = FlagGroup::kRestarts,
     .help = "When a node joins a running job that has room: restart the "
             "round with it, or never (the node stays a spare).",
     .completions = "never restart",
     .read =
         [](Text t, RunOptions& o) {
           return Set(o.spec.scale_up, ReadScaleUp(t));
         }},
    {.name = "scale-up-cooldown",
     .value = "SECONDS",
     .default_text = "10",
     .group = FlagGroup::kRestarts,
     .help = "Minimum duration of a round before it is ended to let a "
             "node join.",
     .read =
         [](Text t, RunOptions& o) {
           return Set(o.spec.scale_up_cool_down, ReadSeconds(t));
         }},
    {.name = "evict-stragglers",
     .group = FlagGroup::kRestarts,
     .help = "Once a rank is persistently slower than the others and a spare "
             "node is ready, the node of that rank leaves the job, and the "
             "spare takes its place in a new round. Only ranks whose "
             "collectives are measured are compared: those of the training "
             "library, and with --profile-collectives those of NCCL.",
     .read =
         [](Text t, RunOptions& o) {
           return Set(o.spec.evict_stragglers, ReadSwitch(t));
         }},
    {.name = "hang-timeout",
     .value = "SECONDS|auto|off",
     .default_text = "auto",
     .group = FlagGroup::kRestarts,
     .help = "A worker that has reported progress "
             "(MUSTER_PROGRESS_SOCKET) in this round and is then silent "
             "for this time counts as failed; its stack is taken first. "
             "auto: ten times the longest pause between its reports, at "
             "least five minutes, known after five pauses. A worker's "
             "own WATCHDOG_S overrides this. A worker that never reports "
             "never hangs.",
     .completions = "auto off",
     .read =
         [](Text t, RunOptions& o) {
           return Set(o.policy.hangs, ReadHangPolicy(t));
         }},
    {.name = "health-command",
     .value = "COMMAND",
     .group = FlagGroup::kHealth,
     .help = "A shell command that runs on this node before every round. "
             "An exit code other than 0 keeps the node out, with the "
             "command's last line as the reason; the command is repeated "
             "until it succeeds.",
     .read = [](Text t, RunOptions& o) { return Set(o.health.command, t); }},
    {.name = "health-checks",
     .value = "LIST",
     .group = FlagGroup::kHealth,
     .help = "Built-in checks before every round: gpu, disk, memory, "
             "shm, or all.",
     .completions = "all none gpu disk memory shm",
     .read = [](Text t,
                RunOptions& o) { return Set(o.health.checks, ReadChecks(t)); }},
    {.name = "network-check",
     .value = "WHEN",
     .default_text = "never",
     .group = FlagGroup::kHealth,
     .help = "When the nodes are checked by pairs: start (before the first "
             "round), suspicion (also before each round after a node was "
             "lost, the communication of workers failed, a rank was "
             "persistently slow or a GPU had a hardware error), or never. Each "
             "node "
             "measures its connections to two others, its processor and its "
             "GPUs; a bad node is told from a bad partner, and becomes a spare "
             "if enough others are there. Needs at least 3 nodes to tell the "
             "bad one.",
     .completions = "never start suspicion",
     .read =
         [](Text t, RunOptions& o) {
           return Set(o.spec.network_check, ReadNetworkCheck(t));
         }},
    {.name = "health-timeout",
     .value = "SECONDS",
     .default_text = "60",
     .group = FlagGroup::kHealth,
     .help = "Limit for one check; a slower check has failed.",
     .read =
         [](Text t, RunOptions& o) {
           return Set(o.health.timeout, ReadPositiveSeconds(t));
         }},
    {.name = "health-interval",
     .value = "SECONDS",
     .default_text = "30",
     .group = FlagGroup::kHealth,
     .help = "Time until a failed check is repeated.",
     .read =
         [](Text t, RunOptions& o) {
           return Set(o.health.interval, ReadPositiveSeconds(t));
         }},
    {.name = "probe-listen",
     .value = "HOST:PORT",
     .group = FlagGroup::kHealth,
     .help = "Serve /livez, /readyz and /startupz over HTTP here, such "
             "as 0.0.0.0:8080 in a pod.",
     .read =
         [](Text t, RunOptions& o) {
           return Set(o.health.probe_listen, ReadOptionalEndpoint(t));
         }},
    {.name = "metrics-listen",
     .value = "HOST:PORT",
     .group = FlagGroup::kHealth,
     .help = "Serve /metrics over HTTP here, in Prometheus' text format, "
             "and the probes as well.",
     .read =
         [](Text t, RunOptions& o) {
           return Set(o.health.metrics_listen, ReadOptionalEndpoint(t));
         }},
    {.name = "metrics-textfile",
     .value = "FILE",
     .group = FlagGroup::kHealth,
     .help = "Write the text of /metrics to FILE every 15 s, for the textfile "
             "collector of Prometheus' node_exporter.",
     .completions = "<file>",
     .read =
         [](Text t, RunOptions& o) {
           o.health.metrics_textfile = std::string(t);
           return rendezvous::CheckMetricsFile(o.health.metrics_textfile);
         }},
    {.name = "metrics-ranks",
     .group = FlagGroup::kHealth,
     .help = "Show the metrics of each worker of the node, too, with the label "
             "local_rank; without this flag only those of all of the node's "
             "workers together.",
     .read =
         [](Text t, RunOptions& o) {
           return Set(o.health.metrics_ranks, ReadSwitch(t));
         }},
    {.name = "dcgm-job-mapping-dir",
     .value = "DIR",
     .group = FlagGroup::kHealth,
     .help = "Write the run id into a file for each GPU of the job in DIR, "
             "while the workers run, so that dcgm-exporter "
             "(--hpc-job-mapping-dir) labels the GPU's metrics with the job.",
     .completions = "<directory>",
     .variable = "DCGM_HPC_JOB_MAPPING_DIR",
     .read =
         [](Text t, RunOptions& o) {
           return Set(o.health.job_mapping_dir, ReadFolder(t));
         }},
    {.name = "dashboard-listen",
     .value = "[HOST:]PORT",
     .group = FlagGroup::kHealth,
     .help = "Serve a page about the job over HTTP here, for a browser; "
             "without a host on 127.0.0.1. A job with a token asks its "
             "readers for it.",
     .read =
         [](Text t, RunOptions& o) {
           return Set(o.health.dashboard_listen, ReadDashboardEndpoint(t));
         }},
};

}  // namespace

std::span<const Flag> WorkerFlags() { return kFlags; }

}  // namespace muster::launcher
