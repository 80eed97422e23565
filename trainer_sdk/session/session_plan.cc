#include "trainer_sdk/session/session_plan.h"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/fnv_hash.h"
#include "trainer_sdk/session/slurm_lists.h"

namespace muster {

int DerivedPort(const std::string& job) {
  constexpr uint64_t kLeast = 15000, kPorts = 15000;
  // Hash with FNV, because std::hash may give different results on different
  // hosts.
  uint64_t hash = FnvHashOf(job);
  // Mix in the high bits, because the low bits of an FNV hash depend too
  // strongly on the last characters.
  hash ^= hash >> 32;
  return static_cast<int>(kLeast + hash % kPorts);
}

namespace {

// The largest allowed world size.
constexpr int kMaxRanks = 1 << 20;

// Reads environment variables and remembers the first error, so that a caller
// can read a whole plan and check for an error once. A variable that is set to
// the empty string counts as unset. Pure.
class EnvironmentReader {
 public:
  explicit EnvironmentReader(
      const std::map<std::string, std::string>& environment)
      : environment_(environment) {}

  // The value of a variable; "" if it is not set.
  std::string Text(const std::string& name) const;
  bool Has(const std::string& name) const { return !Text(name).empty(); }

  // The value of a variable as a decimal integer in [least, most]. nullopt: the
  // variable is unset, or its value is not such a number. In the second case
  // the error is recorded (see status).
  std::optional<int64_t> Number(const std::string& name, int64_t least,
                                int64_t most);
  // The value of the variable `name` as a decimal integer in [least, most]. The
  // variable must be set, because the variable `beside` is set. If `name` is
  // unset or its value is invalid, records an error and returns `least`.
  int64_t Required(const std::string& name, int64_t least, int64_t most,
                   const std::string& beside);

  // Returns the first of `names` that is set; if none is set, the first name.
  std::string FirstSet(std::initializer_list<const char*> names) const;

  // Describes a variable for messages: "NAME=value" or "NAME is not set".
  std::string Shown(const std::string& name) const;

  void Refuse(const std::string& why);
  // OK, or InvalidArgument: the first error so far.
  const absl::Status& status() const { return status_; }

 private:
  const std::map<std::string, std::string>& environment_;
  absl::Status status_;
};

constexpr size_t kShownBytes = 60;

std::string EnvironmentReader::Text(const std::string& name) const {
  auto found = environment_.find(name);
  return found == environment_.end() ? "" : found->second;
}

std::string EnvironmentReader::FirstSet(
    std::initializer_list<const char*> names) const {
  for (const char* name : names) {
    if (Has(name)) return name;
  }
  return *names.begin();
}

std::string EnvironmentReader::Shown(const std::string& name) const {
  const std::string text = Text(name);
  if (text.empty()) return name + " is not set";
  return absl::StrCat(name, "=", absl::CHexEscape(text.substr(0, kShownBytes)),
                      text.size() > kShownBytes ? "..." : "");
}

void EnvironmentReader::Refuse(const std::string& why) {
  if (status_.ok()) status_ = absl::InvalidArgumentError(why);
}

std::optional<int64_t> EnvironmentReader::Number(const std::string& name,
                                                 int64_t least, int64_t most) {
  const std::string text = Text(name);
  if (text.empty()) return std::nullopt;
  int64_t number = 0;
  // Check the characters first: SimpleAtoi also accepts white space and a plus
  // sign, which no launcher writes.
  const bool is_number =
      text.find_first_not_of("-0123456789") == std::string::npos &&
      absl::SimpleAtoi(text, &number);
  if (!is_number || number < least || number > most) {
    Refuse(absl::StrCat(Shown(name), " is not a number between ", least,
                        " and ", most));
    return std::nullopt;
  }
  return number;
}

int64_t EnvironmentReader::Required(const std::string& name, int64_t least,
                                    int64_t most, const std::string& beside) {
  if (!Has(name)) {
    Refuse(absl::StrCat(Shown(name), ", but ", Shown(beside),
                        "; set both or neither"));
  }
  return Number(name, least, most).value_or(least);
}

Launcher LauncherOf(const EnvironmentReader& variables) {
  if (variables.Has("MUSTER_RUN_ID")) return Launcher::kMuster;
  if (variables.Has("TORCHELASTIC_RUN_ID")) return Launcher::kTorchrun;
  return Launcher::kEnvironment;
}

// Whether an agent serves the store (TORCHELASTIC_USE_AGENT_STORE=True). If so,
// all ranks are clients, including rank 0.
bool HasAgentStore(EnvironmentReader& variables) {
  const std::string text = variables.Text("TORCHELASTIC_USE_AGENT_STORE");
  if (!text.empty() && text != "True" && text != "False") {
    variables.Refuse(
        absl::StrCat(variables.Shown("TORCHELASTIC_USE_AGENT_STORE"),
                     " is neither True nor False"));
  }
  return text == "True";
}

// Reports an error if mpirun's world is larger than WORLD_SIZE. The likely
// cause is that a worker of another job started mpirun. Then all processes of
// mpirun inherit the worker's RANK and WORLD_SIZE, so each of them would take
// the worker's rank.
void RefuseOuterWorld(EnvironmentReader& variables, const SessionPlan& plan) {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {
    const auto size = variables.Number(name, 1, kMaxRanks);
    if (size && *size > plan.world_size) {
      variables.Refuse(absl::StrCat(
          variables.Shown("WORLD_SIZE"), " and ", variables.Shown(name),
          " contradict each other; unset RANK and WORLD_SIZE if mpirun was "
          "started by a worker of another job"));
    }
  }
}

SessionPlan PlanOfEnvironment(EnvironmentReader& variables) {
  SessionPlan plan;
  plan.launcher = LauncherOf(variables);
  plan.rank = variables.Number("RANK", 0, kMaxRanks - 1).value_or(0);
  plan.world_size = variables.Required("WORLD_SIZE", 1, kMaxRanks, "RANK");
  const auto local_rank = variables.Number("LOCAL_RANK", 0, kMaxRanks - 1);
  plan.local_rank = local_rank.value_or(0);
  plan.local_world_size = variables.Number("LOCAL_WORLD_SIZE", 1, kMaxRanks);
  plan.group_rank = variables.Number("GROUP_RANK", 0, kMaxRanks - 1);
  plan.group_world_size = variables.Number("GROUP_WORLD_SIZE", 1, kMaxRanks);
  if (!local_rank && !plan.local_world_size && !plan.group_rank &&
      !plan.group_world_size) {
    // This process runs under a Kubernetes job operator, which starts one
    // process per node, and sets neither the LOCAL_ nor the GROUP_ variables.
    plan.local_world_size = 1;
    plan.group_rank = plan.rank;
    plan.group_world_size = plan.world_size;
  }
  plan.restart_count =
      variables.Number("TORCHELASTIC_RESTART_COUNT", 0, 1 << 30).value_or(0);
  plan.round =
      variables.Number("MUSTER_ROUND", 0, int64_t{1} << 60).value_or(0);
  plan.run_id = variables.Text(
      variables.FirstSet({"MUSTER_RUN_ID", "TORCHELASTIC_RUN_ID"}));
  RefuseOuterWorld(variables, plan);

  if (HasAgentStore(variables)) {
    plan.store_place = StorePlace::kAgent;
  } else if (plan.world_size > 1) {
    plan.store_place = StorePlace::kRankZero;
  } else {
    return plan;
  }
  plan.master_address = variables.Text("MASTER_ADDR");
  if (plan.master_address.empty()) {
    variables.Refuse(
        "MASTER_ADDR is not set; set it to the address of rank 0's host, and "
        "MASTER_PORT to a free port there");
  }
  plan.master_port = variables.Required("MASTER_PORT", 1, 65535, "RANK");
  return plan;
}

// Completes a plan that was read from MPI's rank variables: adds the address
// and port of the store and, if all ranks are on one host, the host's position.
// `job`: mpirun's name for the job, the same on all ranks; empty if there is
// none.
SessionPlan WithMaster(EnvironmentReader& variables, SessionPlan plan,
                       const std::string& job) {
  plan.run_id = job;
  const bool one_host = plan.local_world_size == plan.world_size;
  if (one_host) {
    plan.group_rank = 0;
    plan.group_world_size = 1;
  }
  if (plan.world_size == 1) return plan;

  plan.store_place = StorePlace::kRankZero;
  plan.master_address = variables.Text("MASTER_ADDR");
  if (plan.master_address.empty()) {
    plan.master_address = "127.0.0.1";
    if (!one_host) {
      variables.Refuse(
          "MASTER_ADDR is not set, and mpirun does not say where rank 0 is; "
          "start with: mpirun -x MASTER_ADDR=<address of rank 0's host>");
    }
  }
  plan.master_port = variables.Number("MASTER_PORT", 1, 65535)
                         .value_or(job.empty() ? 0 : DerivedPort(job));
  if (plan.master_port == 0) {
    variables.Refuse(
        "MASTER_PORT is not set, and this mpiexec gives the job no name to "
        "derive it from; set it to a port that is free on rank 0's host");
  }
  return plan;
}

SessionPlan PlanOfOpenMpi(EnvironmentReader& variables) {
  SessionPlan plan;
  plan.launcher = Launcher::kOpenMpi;
  plan.rank =
      variables.Number("OMPI_COMM_WORLD_RANK", 0, kMaxRanks - 1).value_or(0);
  plan.world_size = variables.Required("OMPI_COMM_WORLD_SIZE", 1, kMaxRanks,
                                       "OMPI_COMM_WORLD_RANK");
  plan.local_rank = variables.Required("OMPI_COMM_WORLD_LOCAL_RANK", 0,
                                       kMaxRanks - 1, "OMPI_COMM_WORLD_RANK");
  plan.local_world_size = variables.Required("OMPI_COMM_WORLD_LOCAL_SIZE", 1,
                                             kMaxRanks, "OMPI_COMM_WORLD_RANK");
  const std::string job = variables.Text(
      variables.FirstSet({"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid"}));
  return WithMaster(variables, plan, job.empty() ? "" : "mpi-" + job);
}

SessionPlan PlanOfPmi(EnvironmentReader& variables) {
  SessionPlan plan;
  plan.launcher = Launcher::kPmi;
  plan.rank = variables.Number("PMI_RANK", 0, kMaxRanks - 1).value_or(0);
  plan.world_size = variables.Required("PMI_SIZE", 1, kMaxRanks, "PMI_RANK");
  // MPI_LOCALRANKID and MPI_LOCALNRANKS are set by MPICH and Intel MPI.
  plan.local_rank =
      variables.Required("MPI_LOCALRANKID", 0, kMaxRanks - 1, "PMI_RANK");
  plan.local_world_size = variables.Number("MPI_LOCALNRANKS", 1, kMaxRanks);
  return WithMaster(variables, plan, "");
}

// The smallest special value of SLURM_STEP_ID. Special values denote the batch
// script, the interactive shell and other processes that srun did not start as
// tasks.
constexpr uint32_t kLeastSpecialStep = 0xFFFFFFF0;

std::string StepName(const EnvironmentReader& variables) {
  return variables.FirstSet({"SLURM_STEP_ID", "SLURM_STEPID"});
}

// Whether this process is a task started by srun. A batch script and the shell
// of an allocation also have most of Slurm's variables, but are not tasks.
bool IsSlurmTask(const EnvironmentReader& variables) {
  uint32_t step = 0;
  return variables.Has("SLURM_PROCID") &&
         absl::SimpleAtoi(variables.Text(StepName(variables)), &step) &&
         step < kLeastSpecialStep;
}

// Makes the plan from Slurm's variables. Variables of the job step
// (SLURM_STEP_…) take precedence over variables of the job, because a job step
// may have fewer tasks than its job.
SessionPlan PlanOfSlurm(EnvironmentReader& variables) {
  SessionPlan plan;
  plan.launcher = Launcher::kSlurm;
  plan.rank = variables.Number("SLURM_PROCID", 0, kMaxRanks - 1).value_or(0);
  plan.world_size = variables.Required(
      variables.FirstSet({"SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"}), 1,
      kMaxRanks, "SLURM_PROCID");
  plan.local_rank =
      variables.Required("SLURM_LOCALID", 0, kMaxRanks - 1, "SLURM_PROCID");
  plan.group_rank =
      variables.Required("SLURM_NODEID", 0, kMaxRanks - 1, "SLURM_PROCID");
  plan.group_world_size = variables.Required(
      variables.FirstSet({"SLURM_STEP_NUM_NODES", "SLURM_NNODES"}), 1,
      kMaxRanks, "SLURM_PROCID");
  plan.local_world_size =
      TasksOnNode(variables.Text(variables.FirstSet(
                      {"SLURM_STEP_TASKS_PER_NODE", "SLURM_TASKS_PER_NODE"})),
                  *plan.group_rank);
  plan.restart_count =
      variables.Number("SLURM_RESTART_COUNT", 0, 1 << 30).value_or(0);
  plan.run_id = absl::StrCat(
      "slurm-",
      variables.Text(variables.FirstSet({"SLURM_JOB_ID", "SLURM_JOBID"})), ".",
      variables.Text(StepName(variables)));
  if (plan.world_size == 1) return plan;

  plan.store_place = StorePlace::kRankZero;
  plan.master_address = variables.Text("MASTER_ADDR");
  if (plan.master_address.empty() && plan.group_world_size == 1) {
    plan.master_address = "127.0.0.1";
  }
  if (plan.master_address.empty()) {
    const std::string list =
        variables.FirstSet({"SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST"});
    const std::optional<std::string> first = FirstHost(variables.Text(list));
    plan.master_address = first.value_or("");
    if (!first) {
      variables.Refuse(
          absl::StrCat(variables.Shown(list),
                       ": that names no host; set MASTER_ADDR to the "
                       "address of the step's first node"));
    }
  }
  plan.master_port = variables.Number("MASTER_PORT", 1, 65535)
                         .value_or(DerivedPort(plan.run_id));
  return plan;
}

// Whether PMI's variables were set by srun, which sets them in addition to
// Slurm's variables, with the same values.
bool IsPmiOfSlurm(const EnvironmentReader& variables) {
  return IsSlurmTask(variables) &&
         variables.Text("PMI_RANK") == variables.Text("SLURM_PROCID") &&
         // Only mpiexec sets MPI_LOCALRANKID; srun does not.
         !variables.Has("MPI_LOCALRANKID");
}

SessionPlan PlanOfNearest(EnvironmentReader& variables) {
  if (variables.Has("RANK")) return PlanOfEnvironment(variables);
  if (variables.Has("OMPI_COMM_WORLD_RANK")) return PlanOfOpenMpi(variables);
  if (variables.Has("PMI_RANK") && !IsPmiOfSlurm(variables)) {
    return PlanOfPmi(variables);
  }
  if (IsSlurmTask(variables)) return PlanOfSlurm(variables);
  return SessionPlan();
}

void Within(EnvironmentReader& variables, const char* what, int rank,
            const char* of, std::optional<int> size) {
  if (size && rank >= *size) {
    variables.Refuse(absl::StrCat(what, " ", rank, " does not exist in ", of,
                                  " ", *size, ": ranks count from 0"));
  }
}

// Reports an error if environment variables contradict each other, no matter
// which launcher set them.
void CheckConsistent(EnvironmentReader& variables, const SessionPlan& plan) {
  const std::string by = absl::StrCat(" (as ", Name(plan.launcher), " has it)");
  Within(variables, "rank", plan.rank, "a world of size", plan.world_size);
  Within(variables, "local rank", plan.local_rank, "a local world of size",
         plan.local_world_size);
  if (plan.group_rank) {
    Within(variables, "group rank", *plan.group_rank, "a group world of size",
           plan.group_world_size);
  }
  for (const auto& [what, size] :
       {std::pair("local world size", plan.local_world_size),
        {"group world size", plan.group_world_size}}) {
    if (size && *size > plan.world_size) {
      variables.Refuse(absl::StrCat(
          what, " ", *size, " is above the world size ", plan.world_size, by));
    }
  }
  // Rejects a WORLD_SIZE that contradicts the launcher. The variable may have
  // been set for other processes, for example by a batch script before srun.
  const auto stated = variables.Number("WORLD_SIZE", 1, kMaxRanks);
  if (stated && *stated > 1 && plan.launcher == Launcher::kAlone) {
    variables.Refuse(variables.Shown("WORLD_SIZE") +
                     ", but RANK is not set; set both or neither");
  } else if (stated && *stated != plan.world_size) {
    variables.Refuse(absl::StrCat(
        variables.Shown("WORLD_SIZE"), ", but the world has ", plan.world_size,
        " ranks", by, "; unset WORLD_SIZE, or set RANK too"));
  }
}

}  // namespace

const char* Name(Launcher launcher) {
  switch (launcher) {
    case Launcher::kAlone:
      return "nobody";
    case Launcher::kMuster:
      return "launch";
    case Launcher::kTorchrun:
      return "torchrun";
    case Launcher::kEnvironment:
      return "the environment";
    case Launcher::kOpenMpi:
      return "mpirun";
    case Launcher::kPmi:
      return "mpiexec";
    case Launcher::kSlurm:
      return "srun";
  }
  return "?";
}

absl::StatusOr<SessionPlan> PlanSession(
    const std::map<std::string, std::string>& environment) {
  EnvironmentReader variables(environment);
  SessionPlan plan = PlanOfNearest(variables);
  plan.progress_socket = variables.Text("MUSTER_PROGRESS_SOCKET");
  if (plan.world_size == 1) {
    if (!plan.local_world_size) plan.local_world_size = 1;
    if (!plan.group_rank) plan.group_rank = 0;
    if (!plan.group_world_size) plan.group_world_size = 1;
  }
  CheckConsistent(variables, plan);
  if (!variables.status().ok()) return variables.status();
  return plan;
}

}  // namespace muster
