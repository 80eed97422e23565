#include "launcher/cluster/slurm/slurm_defaults.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "absl/strings/str_cat.h"
#include "launcher/cluster/slurm/slurm_place.h"
#include "launcher/options/option_values.h"

namespace muster::launcher {
namespace {

// Signals by which Slurm announces that it will take a node. Slurm sends
// SIGUSR1 if the user has requested it (--signal=USR1@120). SIGTERM, which
// follows a SIGCONT, is sent when a job is preempted, reaches its time limit or
// is cancelled.
constexpr char kNotices[] = "SIGUSR1,SIGTERM";
constexpr int64_t kMaxGpus = 4096;

// Adds up the GPUs in a value of --gpus-per-node: "2", "a100:2", "gpu:a100:2"
// or "volta:2,kepler:1". nullopt: not in this format.
std::optional<int64_t> SumOfGpus(const std::string& text) {
  int64_t sum = 0;
  for (const std::string& part : ReadList(text)) {
    const size_t colon = part.rfind(':');
    const absl::StatusOr<int64_t> number =
        ReadNumber(colon == std::string::npos ? part : part.substr(colon + 1),
                   0, kMaxGpus);
    if (!number.ok()) return std::nullopt;
    sum += *number;
  }
  return sum <= kMaxGpus ? std::optional(sum) : std::nullopt;
}

// Makes the number of GPUs of this node the default of --nproc-per-node.
// SLURM_GPUS_ON_NODE, this node's number of GPUs, takes precedence over
// SLURM_GPUS_PER_NODE, the number requested for every node.
absl::Status AddWorkers(const SlurmEnvironment& environment,
                        Defaults& defaults) {
  for (const char* variable : {"SLURM_GPUS_ON_NODE", "SLURM_GPUS_PER_NODE"}) {
    const std::string text = SlurmValue(environment, variable);
    const std::optional<int64_t> gpus = SumOfGpus(text);
    if (!gpus) {
      return absl::InvalidArgumentError(absl::StrCat(
          variable, "=", text, ": no number of GPUs from 0 to ", kMaxGpus,
          ", such as 4 or a100:4; --nproc-per-node says how many workers"));
    }
    if (*gpus > 0) {
      defaults.flags["nproc-per-node"] = {variable, absl::StrCat(*gpus)};
      return absl::OkStatus();
    }
  }
  return absl::OkStatus();
}

// Whether --slurm is given. An invalid value counts as given; the flag's parser
// reports it.
bool AsksForSlurm(const FlagValues& given) {
  return given.IsGiven("slurm") &&
         ReadSwitch(given.Text("slurm")).value_or(true);
}

bool StartsOthers(const FlagValues& given) {
  return given.IsGiven("hostfile") || AsksForSlurm(given);
}

// The minimum and maximum number of nodes in --nnodes; nullopt if the flag is
// not given, or if its value is invalid. (The flag's parser reports an invalid
// value.)
std::optional<std::pair<int, int>> AskedNodes(const FlagValues& given) {
  if (!given.IsGiven("nnodes")) return std::nullopt;
  const absl::StatusOr<std::pair<int, int>> nodes =
      ReadNodes(given.Text("nnodes"));
  return nodes.ok() ? std::optional(*nodes) : std::nullopt;
}

absl::Status Refused(const std::string& sentence) {
  return absl::InvalidArgumentError(sentence);
}

// Formats " of N nodes" for messages; empty if N is unknown (0).
std::string OfNodes(int nodes) {
  if (nodes == 0) return "";
  return absl::StrCat(" of ", nodes, nodes == 1 ? " node" : " nodes");
}

// Checks that a process outside of a Slurm step may run as a node of the job.
// Refuses a process in salloc's shell, unless flags give a rendezvous endpoint.
// Refuses a process in the batch script of a job with several nodes, unless
// flags give a rendezvous endpoint or --nnodes=1.
absl::Status CheckOutside(const FlagValues& given, const SlurmPlace& place) {
  if (IsEndpointGiven(given)) return absl::OkStatus();
  if (place.context == SlurmContext::kShell) {
    return Refused(absl::StrCat(
        "SLURM_JOB_ID: this shell has a Slurm job", OfNodes(place.nodes),
        " but need not be on one; write srun --ntasks-per-node=1 launch ..., "
        "launch --slurm ..., or launch --standalone ... for this machine"));
  }
  const auto asked = AskedNodes(given);
  if (place.nodes <= 1 || (asked && asked->second == 1)) {
    return absl::OkStatus();
  }
  return Refused(absl::StrCat(
      "SLURM_JOB_NUM_NODES: this is the batch script of a job of ", place.nodes,
      " nodes, and runs on the first of them alone; write srun "
      "--ntasks-per-node=1 launch ..., launch --slurm ..., or launch "
      "--nnodes=1 ... for this node"));
}

// Checks that the tasks of this Slurm step may each be one node of Muster's
// job. Refuses --slurm, and several tasks on a machine unless --nnodes shows
// that the user wants them.
absl::Status CheckStep(const FlagValues& given, const SlurmPlace& place) {
  if (AsksForSlurm(given)) {
    return Refused(
        "--slurm: srun has started this process already; leave one of the two "
        "out");
  }
  const auto asked = AskedNodes(given);
  // Several tasks on one machine are usually a mistake, because launch starts
  // the workers itself. The user wants several tasks if --nnodes has one of two
  // values: the number of tasks (each task is a node of one job), or 1 (each
  // task is a job of its own).
  const bool is_meant =
      asked && (asked->second == place.tasks || asked->second == 1);
  if (place.tasks_on_a_node > 1 && !is_meant) {
    return Refused(absl::StrCat(
        "SLURM_STEP_TASKS_PER_NODE=", place.tasks_per_node,
        ": srun started several tasks on a node, but launch starts the workers "
        "itself; write srun --ntasks-per-node=1 (also in #SBATCH) and, where "
        "there are no GPUs to count, launch --nproc-per-node=",
        place.tasks_on_a_node));
  }
  if (asked && asked->first > place.tasks && !IsEndpointGiven(given)) {
    return Refused(absl::StrCat(
        "--nnodes=", given.Text("nnodes"), ": Slurm's step has ", place.tasks,
        place.tasks == 1 ? " node" : " nodes",
        "; ask for more in #SBATCH --nodes, or leave --nnodes out"));
  }
  return absl::OkStatus();
}

bool IsHost(const SlurmPlace& place) {
  if (place.tasks_on_a_node > 1 || place.node_name.empty()) {
    return place.task == 0;
  }
  return place.node_name == place.first_host;
}

// Returns which messages the agent of this node prints. srun merges the output
// of all tasks. Therefore only task 0 prints messages that concern the whole
// job.
agent::JobMessages JobMessagesOf(const FlagValues& given,
                                 const SlurmPlace& place) {
  const auto asked = AskedNodes(given);
  const bool is_alone = asked ? asked->second == 1 : place.tasks == 1;
  if (is_alone || place.tasks == 1) return agent::JobMessages::kAll;
  return place.task == 0 ? agent::JobMessages::kAssignedAndGeneral
                         : agent::JobMessages::kAssigned;
}

// Adds the defaults by which this node finds the coordinator. Adds nothing if
// --rdzv-endpoint is given or the job has one node. If --master-addr is given,
// it names the coordinator's host, and only the default of --node-rank is
// added. Otherwise adds the defaults of --rdzv-endpoint and Defaults::is_host
// (whether this node hosts the coordinator).
void AddMeeting(const FlagValues& given, const SlurmEnvironment& environment,
                const SlurmPlace& place, Defaults& defaults) {
  const auto asked = AskedNodes(given);
  const bool is_alone = asked ? asked->second == 1 : place.tasks == 1;
  if (is_alone || given.IsGiven("rdzv-endpoint")) return;
  if (given.IsGiven("master-addr")) {
    defaults.flags["node-rank"] = {"SLURM_PROCID",
                                   absl::StrCat(place.task.value_or(0))};
    return;
  }
  const std::string elsewhere = SlurmValue(environment, "MUSTER_COORDINATOR");
  if (!elsewhere.empty()) {
    defaults.flags["rdzv-endpoint"] = {"MUSTER_COORDINATOR", elsewhere};
    defaults.is_host = false;
    return;
  }
  defaults.flags["rdzv-endpoint"] = {
      "SLURM_STEP_NODELIST", absl::StrCat(place.first_host, ":", place.port)};
  defaults.is_host = IsHost(place);
}

// The time within which a lost node may rejoin. Slurm never restarts a task of
// a step, and only tasks of the step know the run id. So a node can only rejoin
// after a short network failure.
constexpr Duration kRejoin = std::chrono::seconds(30);

bool MayOthersCome(const FlagValues& given, const SlurmPlace& place) {
  const auto asked = AskedNodes(given);
  return given.IsGiven("rdzv-id") || (asked && asked->second > place.tasks);
}

// If the user has given no flag for signals, sets --signals-to-preempt, so that
// SIGUSR1 and SIGTERM announce a preemption.
void AddNotices(const FlagValues& given, Defaults& defaults) {
  for (const char* flag : {"signals-to-handle", "signals-to-forward",
                           "signals-to-leave", "signals-to-preempt"}) {
    if (given.IsGiven(flag)) return;
  }
  defaults.flags["signals-to-preempt"] = {"Slurm", kNotices};
}

absl::Status AddNode(const FlagValues& given,
                     const SlurmEnvironment& environment,
                     const SlurmPlace& place, Defaults& defaults) {
  // With --state-dir the run id is the same for all steps and requeues of the
  // Slurm job. The next step or run of the Slurm job thus continues the
  // training job.
  defaults.flags["rdzv-id"] = {"SLURM_JOB_ID", given.Text("state-dir").empty()
                                                   ? place.run_id
                                                   : place.job_name};
  if (!given.IsGiven("gpus") && !given.IsGiven("nproc-per-node")) {
    absl::Status workers = AddWorkers(environment, defaults);
    if (!workers.ok()) return workers;
  }
  const std::string labels =
      TopologyLabels(SlurmValue(environment, "SLURM_TOPOLOGY_ADDR"),
                     SlurmValue(environment, "SLURM_TOPOLOGY_ADDR_PATTERN"));
  if (!labels.empty()) {
    defaults.flags["topology"] = {"SLURM_TOPOLOGY_ADDR", labels};
  }
  // The node's id is Slurm's name of the node, so that `launch drain` accepts
  // Slurm's names.
  if (place.tasks_on_a_node <= 1 && !given.IsGiven("node-rank") &&
      !place.node_name.empty()) {
    defaults.flags["node-id"] = {"SLURMD_NODENAME", place.node_name};
  }
  AddNotices(given, defaults);
  return absl::OkStatus();
}

}  // namespace

bool InSlurm(const SlurmEnvironment& environment) {
  return !SlurmValue(environment, "SLURM_JOB_ID").empty();
}

absl::StatusOr<Defaults> SlurmDefaults(const FlagValues& given,
                                       const SlurmEnvironment& environment) {
  const absl::StatusOr<SlurmPlace> place = ReadSlurmPlace(environment);
  if (!place.ok()) return place.status();
  Defaults defaults;
  if (place->context == SlurmContext::kStep) {
    const absl::Status fits = CheckStep(given, *place);
    if (!fits.ok()) return fits;
    defaults.flags["nnodes"] = {"SLURM_STEP_NUM_TASKS",
                                absl::StrCat(place->tasks)};
    defaults.job_messages = JobMessagesOf(given, *place);
    // Workers get no stdin. srun copies its own stdin to every task; that stdin
    // is the rest of the batch script, or a terminal.
    defaults.flags["stdin"] = {"Slurm", "none"};
    if (!MayOthersCome(given, *place)) defaults.rejoin_timeout = kRejoin;
    AddMeeting(given, environment, *place, defaults);
    const absl::Status node = AddNode(given, environment, *place, defaults);
    if (!node.ok()) return node;
    return defaults;
  }
  // With --hostfile or --slurm this process only starts agents; the agents read
  // the defaults on their own nodes.
  if (StartsOthers(given)) return defaults;
  const absl::Status fits = CheckOutside(given, *place);
  if (!fits.ok()) return fits;
  if (place->context == SlurmContext::kBatch) {
    const absl::Status node = AddNode(given, environment, *place, defaults);
    if (!node.ok()) return node;
  }
  return defaults;
}

}  // namespace muster::launcher
