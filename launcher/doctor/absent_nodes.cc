#include "launcher/doctor/absent_nodes.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "agent/health/wording.h"
#include "base/environment_value.h"
#include "launcher/cluster/slurm/host_list.h"
#include "launcher/doctor/nodes_page.h"

namespace muster::launcher {
namespace {

constexpr char kId[] = "nodes-absent";

// The missing nodes by name. Empty if the expected names are not the node ids
// that the reports have: more names than missing nodes would remain.
std::vector<std::string> NamedAbsent(const ExpectedNodes& expected,
                                     const std::vector<NodeReport>& reports,
                                     size_t missing) {
  std::set<std::string> came;
  for (const NodeReport& report : reports) came.insert(report.node);
  std::vector<std::string> absent;
  for (const std::string& name : expected.names) {
    if (came.count(name) == 0) absent.push_back(name);
  }
  if (absent.size() != missing) absent.clear();
  return absent;
}

// The missing nodes by the node ranks that users gave. Empty if a node has
// none.
std::vector<int> RanksAbsent(const ExpectedNodes& expected,
                             const std::vector<NodeReport>& reports,
                             size_t missing) {
  std::set<int> came;
  for (const NodeReport& report : reports) {
    if (!report.node_rank) return {};
    came.insert(*report.node_rank);
  }
  std::vector<int> absent;
  for (int rank = 0; rank < expected.count; ++rank) {
    if (came.count(rank) == 0) absent.push_back(rank);
  }
  if (absent.size() != missing) absent.clear();
  return absent;
}

}  // namespace

std::vector<std::string> SlurmNodes(
    const std::map<std::string, std::string>& environment) {
  for (const char* variable : {"SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST"}) {
    const auto list = NonEmptyEnvironmentValue(environment, variable);
    if (!list) continue;
    auto names = ExpandHostList(*list);
    if (names.ok()) return *std::move(names);
  }
  return {};
}

std::vector<agent::Finding> FindAbsent(const ExpectedNodes& expected,
                                       const std::vector<NodeReport>& reports) {
  const size_t came = reports.size();
  if (expected.count <= 0 || came >= static_cast<size_t>(expected.count)) {
    return {};
  }
  const size_t missing = static_cast<size_t>(expected.count) - came;
  std::vector<agent::Finding> findings;
  for (const std::string& name : NamedAbsent(expected, reports, missing)) {
    const auto why = expected.why.find(name);
    findings.push_back(agent::Found(
        kId, absl::StrCat(
                 name, ": ",
                 why == expected.why.end() ? "it did not come" : why->second)));
  }
  if (!findings.empty()) return findings;
  for (const int rank : RanksAbsent(expected, reports, missing)) {
    findings.push_back(agent::Found(
        kId, absl::StrCat("node rank ", rank, ": it did not come")));
  }
  if (!findings.empty()) return findings;
  const std::vector<std::string> names = NodeNames(reports);
  return {agent::Found(
      kId, absl::StrCat(missing, " of ", expected.count, " nodes did not come",
                        came == 0 ? ""
                                  : absl::StrCat("; these did: ",
                                                 agent::Listed(names))))};
}

}  // namespace muster::launcher
