#include "launcher/cluster/slurm/slurm_place.h"

#include <algorithm>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/environment_value.h"
#include "launcher/cluster/slurm/host_list.h"
#include "launcher/options/option_values.h"

namespace muster::launcher {
namespace {

constexpr int64_t kMaxTasks = 10'000'000;
constexpr int64_t kLargestId = 4'294'967'295;
// Largest number of a step that srun started. Larger numbers are used for batch
// scripts, salloc's shell on a node and others (slurm.h,
// SLURM_MAX_NORMAL_STEP_ID).
constexpr int64_t kLargestStep = 0xfffffff0;
// The coordinator of a Slurm step has a port from kFirstPort to kFirstPort +
// kPorts - 1 = 32767. These ports are above those of most services, and below
// those that Linux assigns to outgoing connections (from 32768).
constexpr uint64_t kFirstPort = 12000;
constexpr uint64_t kStepsApart = 16;
constexpr uint64_t kPorts = 1298 * kStepsApart;
constexpr int kMaxComponents = 128;

absl::Status Wrong(const std::string& name, const std::string& text,
                   const std::string& what) {
  return absl::InvalidArgumentError(absl::StrCat(
      name, "=", text, ": ", what, "; --cluster=none goes without Slurm"));
}

// The value of a variable as a number; 0 if the variable is not set.
absl::StatusOr<int64_t> Number(const SlurmEnvironment& environment,
                               const std::string& name, int64_t most) {
  const std::string text = SlurmValue(environment, name);
  if (text.empty()) return 0;
  const absl::StatusOr<int64_t> number = ReadNumber(text, 0, most);
  if (number.ok()) return number;
  return Wrong(name, text, std::string(number.status().message()));
}

absl::StatusOr<std::vector<std::string>> Hosts(
    const SlurmEnvironment& environment, const std::string& name) {
  const std::string text = SlurmValue(environment, name);
  absl::StatusOr<std::vector<std::string>> hosts = ExpandHostList(text);
  if (!hosts.ok()) {
    return Wrong(name, text, std::string(hosts.status().message()));
  }
  return hosts;
}

// Returns the largest number in a list such as "2(x3),1", where "2(x3)" stands
// for three nodes with the value 2.
absl::StatusOr<int> LargestPerNode(const std::string& name,
                                   const std::string& text) {
  int64_t largest = 0;
  for (const std::string& part : ReadList(text)) {
    const absl::StatusOr<int64_t> number =
        ReadNumber(part.substr(0, part.find('(')), 0, kMaxTasks);
    if (!number.ok()) {
      return Wrong(name, text, std::string(number.status().message()));
    }
    largest = std::max(largest, *number);
  }
  return static_cast<int>(largest);
}

// The host of task 0 of a heterogeneous job's step: the first host of the first
// component that takes part in the step. The first host in the step's own list
// may be a different host, because that list is sorted over all components.
struct FirstHost {
  std::string host;
  int component = 0;
};
absl::StatusOr<FirstHost> FindFirst(const SlurmEnvironment& environment,
                                    const std::vector<std::string>& hosts) {
  const std::set<std::string> known(hosts.begin(), hosts.end());
  for (int component = 0; component < kMaxComponents; ++component) {
    const std::string name =
        absl::StrCat("SLURM_JOB_NODELIST_HET_GROUP_", component);
    if (SlurmValue(environment, name).empty()) break;
    const absl::StatusOr<std::vector<std::string>> part =
        Hosts(environment, name);
    if (!part.ok()) return part.status();
    for (const std::string& host : *part) {
      if (known.count(host) > 0) return FirstHost{host, component};
    }
  }
  return FirstHost{hosts.empty() ? "" : hosts[0], 0};
}

SlurmContext Context(const SlurmEnvironment& environment, int64_t step) {
  if (!SlurmValue(environment, "SLURM_STEP_ID").empty() &&
      !SlurmValue(environment, "SLURM_STEP_NODELIST").empty() &&
      step < kLargestStep) {
    return SlurmContext::kStep;
  }
  return SlurmValue(environment, "SLURM_PROCID").empty() ? SlurmContext::kShell
                                                         : SlurmContext::kBatch;
}

// Reads the variables about tasks, which are set in a step only.
absl::Status ReadTasks(const SlurmEnvironment& environment, SlurmPlace& place) {
  const auto tasks = Number(environment, "SLURM_STEP_NUM_TASKS", kMaxTasks);
  const auto task = Number(environment, "SLURM_PROCID", kMaxTasks);
  const auto local = Number(environment, "SLURM_LOCALID", kMaxTasks);
  for (const auto* number : {&tasks, &task, &local}) {
    if (!number->ok()) return number->status();
  }
  place.tasks = std::max(1, static_cast<int>(*tasks));
  place.task = static_cast<int>(*task);
  place.task_on_node = static_cast<int>(*local);
  place.tasks_per_node = SlurmValue(environment, "SLURM_STEP_TASKS_PER_NODE");
  const auto most =
      LargestPerNode("SLURM_STEP_TASKS_PER_NODE", place.tasks_per_node);
  if (!most.ok()) return most.status();
  place.tasks_on_a_node = std::max(1, *most);
  return absl::OkStatus();
}

}  // namespace

std::string SlurmValue(const SlurmEnvironment& environment,
                       const std::string& name) {
  return EnvironmentValue(environment, name).value_or("");
}

uint16_t SlurmPort(uint64_t job, uint64_t step) {
  return static_cast<uint16_t>(kFirstPort +
                               (job * kStepsApart + step) % kPorts);
}

absl::StatusOr<SlurmPlace> ReadSlurmPlace(const SlurmEnvironment& environment) {
  const auto job = Number(environment, "SLURM_JOB_ID", kLargestId);
  const auto step = Number(environment, "SLURM_STEP_ID", kLargestId);
  const auto restarts = Number(environment, "SLURM_RESTART_COUNT", kLargestId);
  const auto array = Number(environment, "SLURM_ARRAY_JOB_ID", kLargestId);
  const auto array_task =
      Number(environment, "SLURM_ARRAY_TASK_ID", kLargestId);
  for (const auto* number : {&job, &step, &restarts, &array, &array_task}) {
    if (!number->ok()) return number->status();
  }
  SlurmPlace place;
  place.context = Context(environment, *step);
  const bool in_step = place.context == SlurmContext::kStep;
  const std::string list =
      in_step ? "SLURM_STEP_NODELIST" : "SLURM_JOB_NODELIST";
  const auto hosts = Hosts(environment, list);
  if (!hosts.ok()) return hosts.status();
  const auto first = FindFirst(environment, *hosts);
  if (!first.ok()) return first.status();
  place.first_host = first->host;
  place.nodes = static_cast<int>(hosts->size());
  place.node_name = SlurmValue(environment, "SLURMD_NODENAME");
  place.job_name =
      *array > 0 ? absl::StrCat(*array, "_", *array_task) : absl::StrCat(*job);
  if (first->component > 0) {
    absl::StrAppend(&place.job_name, "+", first->component);
  }
  place.run_id = place.job_name;
  if (in_step) {
    absl::StrAppend(&place.run_id, ".", *step);
    const absl::Status tasks = ReadTasks(environment, place);
    if (!tasks.ok()) return tasks;
  }
  if (*restarts > 0) absl::StrAppend(&place.run_id, "-r", *restarts);
  place.port =
      SlurmPort(static_cast<uint64_t>(*job), static_cast<uint64_t>(*step));
  return place;
}

namespace {

constexpr size_t kMaxLevels = 16;
constexpr size_t kLongest = 4096;

// Splits `text` at dots outside of brackets; "s[0.1]" is one piece.
std::vector<std::string> SplitAtDots(const std::string& text) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : text) {
    depth += c == '[' ? 1 : c == ']' ? -1 : 0;
    if (c == '.' && depth <= 0) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

}  // namespace

std::string TopologyLabels(const std::string& address,
                           const std::string& pattern) {
  if (address.size() > kLongest) return "";
  std::vector<std::string> names = SplitAtDots(address);
  const std::vector<std::string> kinds = SplitAtDots(pattern);
  // A node's name may contain dots. Therefore only the parts of the address
  // before the node's name are matched with the pattern.
  const auto node = std::find(kinds.begin(), kinds.end(), "node");
  const auto levels = static_cast<size_t>(node - kinds.begin());
  if (node == kinds.end() || levels > kMaxLevels || levels >= names.size()) {
    return "";
  }
  std::string labels;
  for (size_t level = 0; level < levels; ++level) {
    // If a node is connected to several switches, the address has one name for
    // all of them, such as "s[1,4]". Replace the comma, because a comma
    // separates labels.
    std::replace(names[level].begin(), names[level].end(), ',', '+');
    if (names[level].empty()) continue;
    absl::StrAppend(&labels, labels.empty() ? "" : ",", kinds[level], level + 1,
                    "=", names[level]);
  }
  return labels;
}

}  // namespace muster::launcher
