#include "launcher/options/agent_plan.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/binding/binding_plan.h"
#include "agent/logs/log_paths.h"
#include "agent/preemption/requeue_job.h"
#include "agent/workers/worker_command.h"
#include "base/environment_value.h"
#include "base/fnv_hash.h"
#include "base/word_split.h"
#include "launcher/options/option_values.h"
#include "launcher/options/remarks.h"
#include "launcher/options/worker_slots.h"
#include "rendezvous/protocol/job_spec.h"

namespace muster::launcher {
namespace {

agent::CommandRequest AskedCommand(const RunOptions& options,
                                   const MachineFacts& facts) {
  agent::CommandRequest request;
  request.program = options.program[0];
  request.arguments.assign(options.program.begin() + 1, options.program.end());
  request.is_python = options.interpreter == Interpreter::kPython;
  request.is_module = options.interpreter == Interpreter::kModule;
  request.no_python = options.interpreter == Interpreter::kNoPython;
  request.run_path = options.interpreter == Interpreter::kRunPath;
  request.python = NonEmptyEnvironmentValue(facts.environment, "PYTHON_EXEC")
                       .value_or(facts.python);
  return request;
}

// Chooses a name for the run's log folder that no other run uses: the run id,
// followed by a tag if --log-dir is given and the run id is not random. This
// function chooses the tag, except in two cases, in which the coordinator
// chooses the tag later:
// - The run may have several nodes. The coordinator sends all of them the same
//   tag, so that nodes with a common file system use one folder.
// - --state-dir is given. A continued run must keep the tag in its journal.
void NameRun(const RunOptions& options, const MachineFacts& facts,
             const Meeting& meeting, agent::LogPlan& logs) {
  logs.run_name = meeting.run_id;
  if (options.log_dir.empty() || meeting.run_id == facts.uuid) return;
  logs.is_tagged = options.spec.max_nodes > 1 || !options.state_dir.empty();
  if (!logs.is_tagged) {
    logs.run_name = agent::TaggedRunName(meeting.run_id, NewRunTag(facts));
  }
}

agent::LogPlan PlanLogs(const RunOptions& options, const MachineFacts& facts,
                        const Meeting& meeting) {
  agent::LogPlan logs = options.logs;
  if (options.log_dir.empty()) {
    logs.directory = facts.temporary_directory;
  } else if (options.log_dir[0] == '/') {
    logs.directory = options.log_dir;
  } else {
    logs.directory =
        absl::StrCat(facts.working_directory, "/", options.log_dir);
  }
  NameRun(options, facts, meeting, logs);
  if (logs.prefix_template.empty()) {
    logs.prefix_template =
        EnvironmentValue(facts.environment,
                         "TORCHELASTIC_LOG_LINE_PREFIX_TEMPLATE")
            .value_or("");
  }
  return logs;
}

// Rejects a relative log folder if the working folder is unknown.
absl::Status CheckWorkingDirectory(const RunOptions& options,
                                   const MachineFacts& facts) {
  const std::string& folder = options.log_dir;
  const bool is_relative = !folder.empty() && folder[0] != '/';
  if (!is_relative || !facts.working_directory.empty()) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "--log-dir=", folder,
      ": the working folder, which this path begins in, is gone or out of "
      "reach; name a folder that begins with / or go to another folder (cd)"));
}

absl::Status CheckInputRank(const RunOptions& options,
                            const WorkerSlots& slots) {
  const bool is_alone = options.spec.max_nodes == 1;
  if (options.input.reader != agent::WorkerInput::Reader::kRank || !is_alone ||
      options.input.rank < slots.count) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "--stdin=", options.input.rank, ": this job has ", slots.count,
      slots.count == 1
          ? " worker; name rank 0"
          : absl::StrCat(" workers; name a rank from 0 to ", slots.count - 1)));
}

std::optional<int> NumberIn(const std::map<std::string, std::string>& from,
                            const std::string& name) {
  const auto found = from.find(name);
  if (found == from.end()) return std::nullopt;
  const absl::StatusOr<int64_t> number =
      ReadNumber(found->second, 0, rendezvous::kMaxNodes);
  if (!number.ok()) return std::nullopt;
  return static_cast<int>(*number);
}

std::optional<int> OutsideIndex(const RunOptions& options,
                                const MachineFacts& facts) {
  if (options.spec.max_nodes == 1) return std::nullopt;
  const auto& environment = facts.environment;
  if (const auto pod = NumberIn(environment, "JOB_COMPLETION_INDEX")) {
    return pod;
  }
  const auto tasks = NumberIn(environment, "SLURM_STEP_NUM_TASKS");
  if (tasks && *tasks >= options.spec.min_nodes &&
      *tasks <= options.spec.max_nodes) {
    return NumberIn(environment, "SLURM_PROCID");
  }
  return std::nullopt;
}

// Number of bytes reserved for the remark at the end of a command that is cut:
// "... (1048576 bytes, hash 0123456789abcdef)".
constexpr size_t kRemarkBytes = 64;

bool IsPlain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') ||
         std::string_view("@%_+=:,./-").find(c) != std::string_view::npos;
}

std::string Quoted(const std::string& word) {
  const bool is_plain =
      !word.empty() && std::all_of(word.begin(), word.end(), IsPlain);
  return is_plain ? word : ShellWord(word);
}

// Replaces control characters by "\xNN" and doubles backslashes, so that two
// different commands never have the same text.
std::string WithoutControls(const std::string& text) {
  std::string visible;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      absl::StrAppend(&visible, "\\x", absl::Hex(byte, absl::kZeroPad2));
    } else if (c == '\\') {
      visible += "\\\\";
    } else {
      visible += c;
    }
  }
  return visible;
}

const char* InterpreterFlag(Interpreter interpreter) {
  switch (interpreter) {
    case Interpreter::kByName:
      return "";
    case Interpreter::kPython:
      return " --python";
    case Interpreter::kModule:
      return " --module";
    case Interpreter::kNoPython:
      return " --no-python";
    case Interpreter::kRunPath:
      return " --run-path";
  }
  return "";
}

// Returns the first `most` bytes of `text`, or fewer, so that no UTF-8
// character is cut at the end.
std::string_view Beginning(std::string_view text, size_t most) {
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xc0) == 0x80) {
    --most;
  }
  return text.substr(0, most);
}

}  // namespace

std::string NewRunTag(const MachineFacts& facts) {
  constexpr size_t kTagBytes = 8;
  return facts.uuid.substr(0, kTagBytes);
}

absl::StatusOr<agent::AgentOptions> PlanAgent(const RunOptions& options,
                                              const MachineFacts& facts,
                                              const Meeting& meeting) {
  if (options.node_rank && *options.node_rank >= options.spec.max_nodes) {
    return absl::InvalidArgumentError(
        absl::StrCat("--node-rank=", *options.node_rank, ": a job of at most ",
                     options.spec.max_nodes,
                     options.spec.max_nodes == 1 ? " node" : " nodes",
                     " has node ranks from 0 to ", options.spec.max_nodes - 1,
                     "; look at --nnodes"));
  }
  if (options.preemption.requeue == agent::Requeue::kYes) {
    // Check now whether the job can be requeued: after a preemption, it is too
    // late to report an error.
    const absl::StatusOr<std::vector<std::string>> requeue =
        agent::RequeueCommand(facts.environment);
    if (!requeue.ok()) {
      return absl::InvalidArgumentError(requeue.status().message());
    }
  }
  const absl::Status reachable = CheckWorkingDirectory(options, facts);
  if (!reachable.ok()) return reachable;
  absl::StatusOr<WorkerSlots> slots = PlanWorkerSlots(options, facts);
  if (!slots.ok()) return slots.status();
  const absl::Status input = CheckInputRank(options, *slots);
  if (!input.ok()) return input;
  absl::StatusOr<std::vector<std::string>> command =
      agent::WorkerCommand(AskedCommand(options, facts));
  if (!command.ok()) return command.status();

  agent::AgentOptions agent;
  agent.run_id = meeting.run_id;
  agent.node = PlanNodeIdentity(options, facts);
  agent.node.slots = slots->count;
  agent.node.gpus = GpuNames(*slots, facts);
  agent.place_key = facts.place_key;
  agent.spec = options.spec;
  agent.spec.command = JobCommand(options);
  agent.argv =
      agent::WithFrameworkProcess(options.framework_envs, *std::move(command));
  agent.local_rank_flag = options.local_rank_flag;
  agent.local_rank_at = agent.argv.size() - (options.program.size() - 1);
  agent.expands_local_rank = options.expands_local_rank;
  agent.logs = PlanLogs(options, facts, meeting);
  agent.environment.run_id = meeting.run_id;
  agent.environment.node_id = agent.node.node_id;
  agent.environment.role = options.role;
  agent.environment.local_world_size = slots->count;
  agent.environment.max_restarts = options.spec.max_restarts;
  agent.environment.signals_to_handle = options.signals_to_handle_text;
  agent.environment.gpu_of_local_rank = slots->gpu_of_local_rank;
  agent.environment.sets_hip = slots->sets_hip;
  agent.environment.virtual_local_rank =
      options.local_ranks == LocalRanks::kVirtual;
  agent.environment.store_host = options.spec.store_host;
  agent.environment.cores = facts.cores;
  agent.environment.coordinator_endpoint =
      rendezvous::EndpointsText(meeting.endpoints);
  agent.environment.framework_envs = options.framework_envs;
  agent.environment.more = options.worker_environment;
  if (options.binding != agent::Binding::kNone) {
    absl::StatusOr<agent::BindingPlan> binding =
        PlanNodeBinding(options, facts, *slots);
    if (!binding.ok()) return binding.status();
    agent.node.binding = agent::BindingText(options.binding, *binding,
                                            rendezvous::kMaxBindingBytes);
    agent.remarks.push_back(agent::BindingRemark(options.binding, *binding));
    agent.environment.bindings = std::move(binding->workers);
  }
  if (std::string remark = CoreRemark(*slots, facts); !remark.empty()) {
    agent.remarks.push_back(std::move(remark));
  }
  agent.profiles_collectives = options.profiles_collectives;
  agent.input = options.input;
  agent.signals_to_handle = options.signals_to_handle;
  agent.policy = options.policy;
  agent.policy.retries_wrong_coordinator =
      options.cluster == Cluster::kSlurm ||
      options.cluster == Cluster::kKubernetes;
  agent.policy.waits_for_place = options.cluster == Cluster::kKubernetes;
  // In a cluster, a node that had no place in any round exits with 0 if the job
  // has succeeded. A cluster counts every other exit code as a failure of the
  // whole job.
  if (options.cluster != Cluster::kNone) agent.policy.never_ran_exit_code = 0;
  agent.preemption = options.preemption;
  agent.spec.preempt_grace = options.preemption.grace;
  agent.health = options.health;
  agent.health.gpus_needed = slots->gpus_needed;
  if (const auto folder = EnvironmentValue(facts.environment, "TMPDIR")) {
    agent.socket_parent = *folder;
  }
  agent.coordinator_endpoint = agent.environment.coordinator_endpoint;
  agent.absent_hint = options.absent_hint;
  agent.store_path = options.store_path;
  agent.store_clients = options.store_clients;
  agent.store_port = meeting.store_port;
  agent.store_port_flag = meeting.store_port_flag;
  return agent;
}

rendezvous::NodeIdentity PlanNodeIdentity(const RunOptions& options,
                                          const MachineFacts& facts) {
  rendezvous::NodeIdentity node;
  node.incarnation = facts.incarnation;
  node.host = facts.host_name;
  node.address = options.local_addr;
  node.pid = facts.pid;
  node.node_rank = options.node_rank;
  node.index = OutsideIndex(options, facts);
  node.topology = options.topology;
  node.role = options.role;
  if (!options.node_id.empty()) {
    node.node_id = options.node_id;
  } else if (node.node_rank) {
    node.node_id = absl::StrCat("rank-", *node.node_rank);
  } else if (node.index) {
    node.node_id = absl::StrCat("index-", *node.index);
  } else {
    node.node_id =
        absl::StrCat(facts.host_name, "-",
                     absl::Hex(facts.incarnation & 0xffffff, absl::kZeroPad6));
  }
  return node;
}

std::string JobCommand(const RunOptions& options) {
  std::string command =
      absl::StrCat("--nproc-per-node=",
                   options.workers_asked.empty() ? options.workers_per_node
                                                 : options.workers_asked,
                   InterpreterFlag(options.interpreter));
  for (const std::string& word : options.program) {
    absl::StrAppend(&command, " ", WithoutControls(Quoted(word)));
  }
  if (command.size() <= rendezvous::kMaxCommandBytes) return command;
  return absl::StrCat(
      std::string(
          Beginning(command, rendezvous::kMaxCommandBytes - kRemarkBytes)),
      "... (", command.size(), " bytes, hash ",
      absl::Hex(FnvHashOf(command), absl::kZeroPad16), ")");
}

}  // namespace muster::launcher
