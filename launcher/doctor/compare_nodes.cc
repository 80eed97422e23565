#include "launcher/doctor/compare_nodes.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "agent/health/wording.h"
#include "base/environment_value.h"
#include "launcher/cluster/slurm/host_list.h"
#include "launcher/doctor/node_report.h"

namespace muster::launcher {
namespace {

constexpr char kId[] = "nodes-absent";

// Returns the names of the expected nodes that sent no report; `missing` is the
// number of such nodes. Returns nothing if the number of names found is not
// `missing`: then the expected names are unknown, or the reports use other
// names.
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

// Returns the node ranks (--node-rank) of the expected nodes that sent no
// report; `missing` is the number of such nodes. Returns nothing if a report
// has no node rank, or if the number of ranks found is not `missing`.
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

namespace {

constexpr int kMaxInFull = 32;

// The results of all nodes, and the nodes' names on the doctor's page (its
// output).
struct Named {
  const std::vector<NodeSeen>& nodes;
  // the name of each node on the page, indexed by the node's rank; "rank N" for
  // a node without a report
  std::vector<std::string> names;
};

Named WithNames(const std::vector<NodeSeen>& nodes) {
  std::vector<NodeReport> reports;
  for (const NodeSeen& node : nodes) {
    if (!node.report) continue;
    NodeReport& report = reports.emplace_back();
    report.host = node.report->host;
    report.node = node.report->node;
  }
  const std::vector<std::string> told = NodeNames(reports);
  Named named = {nodes, {}};
  size_t next = 0;
  for (size_t rank = 0; rank < nodes.size(); ++rank) {
    named.names.push_back(nodes[rank].report ? told[next++]
                                             : absl::StrCat("rank ", rank));
  }
  return named;
}

// Adds a finding for each value, such as the version of the driver, that
// differs between nodes: "driver: 550.54 on a, b; 535.10 on c".
void CompareTexts(const Named& named, const char* id,
                  std::map<std::string, std::string> NodeReport::*texts,
                  std::vector<agent::Finding>& findings) {
  const std::vector<NodeSeen>& nodes = named.nodes;
  std::set<std::string> names;
  for (const NodeSeen& node : nodes) {
    if (!node.report) continue;
    for (const auto& [name, value] : (*node.report).*texts) names.insert(name);
  }
  for (const std::string& name : names) {
    std::map<std::string, std::vector<std::string>> by_value;
    for (size_t rank = 0; rank < nodes.size(); ++rank) {
      if (!nodes[rank].report) continue;
      const auto& own = (*nodes[rank].report).*texts;
      const auto value = own.find(name);
      by_value[value == own.end() ? "none" : value->second].push_back(
          named.names[rank]);
    }
    if (by_value.size() < 2) continue;
    std::vector<std::string> parts;
    parts.reserve(by_value.size());
    for (const auto& [value, who] : by_value) {
      parts.push_back(absl::StrCat(value, " on ", agent::Listed(who)));
    }
    findings.push_back(
        agent::Found(id, absl::StrCat(name, ": ", absl::StrJoin(parts, "; "))));
  }
}

void CompareReach(const Named& named, std::vector<agent::Finding>& findings) {
  const std::vector<NodeSeen>& nodes = named.nodes;
  for (size_t rank = 0; rank < nodes.size(); ++rank) {
    // The nodes that this node cannot reach, grouped by error text. A node that
    // reaches no other node thus gives one finding, not many.
    std::map<std::string, std::vector<std::string>> failed;
    for (const auto& [other, probe] : nodes[rank].probes) {
      if (probe.error.empty()) continue;
      const auto at = static_cast<size_t>(other);
      failed[probe.error].push_back(
          absl::StrCat(named.names[at], " (", nodes[at].address, ")"));
    }
    for (const auto& [error, who] : failed) {
      findings.push_back(
          agent::Found("nodes-unreachable",
                       absl::StrCat(named.names[rank], " cannot connect to ",
                                    agent::Listed(who), ": ", error)));
    }
  }
}

void CompareClocks(const Named& named, std::vector<agent::Finding>& findings) {
  const std::vector<NodeSeen>& nodes = named.nodes;
  // `off` lists the nodes whose clocks differ from rank 0's clock. Rank 0's
  // clock is the reference, because every node has probed rank 0.
  std::vector<std::string> off;
  for (size_t rank = 1; rank < nodes.size(); ++rank) {
    const auto asked = nodes[rank].probes.find(0);
    if (asked == nodes[rank].probes.end() || !asked->second.error.empty()) {
      continue;
    }
    const double ahead = -ToSeconds(asked->second.clock_ahead);
    // The error of the measurement is at most the round trip. Ignore a
    // difference below one second plus the round trip.
    if (std::fabs(ahead) < 1.0 + ToSeconds(asked->second.round_trip)) continue;
    char text[48];
    std::snprintf(text, sizeof(text), " by %+.1f s", ahead);
    off.push_back(absl::StrCat(named.names[rank], text));
  }
  if (off.empty()) return;
  findings.push_back(agent::Found(
      "nodes-clock-skew", absl::StrCat("clocks differ from ", named.names[0],
                                       "'s: ", agent::Listed(off))));
}

std::string Summary(const Named& named) {
  Duration slowest = Duration::zero();
  int reached = 0;
  for (const NodeSeen& node : named.nodes) {
    for (const auto& [other, probe] : node.probes) {
      if (!probe.error.empty()) continue;
      ++reached;
      slowest = std::max(slowest, probe.round_trip);
    }
  }
  char milliseconds[32];
  std::snprintf(milliseconds, sizeof(milliseconds), "%.1f ms",
                ToSeconds(slowest) * 1e3);
  return absl::StrCat(
      agent::Listed(named.names),
      reached == 0 ? ""
                   : absl::StrCat("; ", reached,
                                  " connections between them, the slowest in ",
                                  milliseconds));
}

}  // namespace

std::vector<int> ProbedBy(int rank, int nodes) {
  std::vector<int> others;
  if (nodes <= kMaxInFull) {
    for (int other = 0; other < nodes; ++other) {
      if (other != rank) others.push_back(other);
    }
    return others;
  }
  for (int distance = 1; distance < nodes; distance *= 2) {
    others.push_back((rank + distance) % nodes);
  }
  if (rank != 0 && std::count(others.begin(), others.end(), 0) == 0) {
    others.push_back(0);
  }
  return others;
}

std::vector<agent::Finding> CompareNodes(const std::vector<NodeSeen>& nodes) {
  const Named named = WithNames(nodes);
  std::vector<agent::Finding> findings = {
      agent::Found("nodes", Summary(named))};
  std::vector<std::string> absent;
  for (size_t rank = 0; rank < nodes.size(); ++rank) {
    if (!nodes[rank].report) absent.push_back(absl::StrCat("rank ", rank));
  }
  if (!absent.empty()) {
    findings.push_back(agent::Found(
        "nodes-missing", absl::StrCat(agent::Listed(absent), " told nothing")));
  }
  CompareReach(named, findings);
  CompareTexts(named, "nodes-versions-differ", &NodeReport::versions, findings);
  CompareTexts(named, "nodes-hardware-differ", &NodeReport::hardware, findings);
  CompareClocks(named, findings);
  return findings;
}

}  // namespace muster::launcher
