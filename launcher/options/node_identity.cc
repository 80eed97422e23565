#include "launcher/options/node_identity.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "launcher/options/option_values.h"

namespace muster::launcher {
namespace {

constexpr int kMaxNodes = 1'000'000;

std::optional<int> NumberIn(const std::map<std::string, std::string>& from,
                            const std::string& name) {
  const auto found = from.find(name);
  if (found == from.end()) return std::nullopt;
  const absl::StatusOr<int64_t> number =
      ReadNumber(found->second, 0, kMaxNodes);
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

}  // namespace

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

}  // namespace muster::launcher
