#include "launcher/doctor/compare_nodes.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "agent/fitness/wording.h"

namespace muster {
namespace {

constexpr int kMostInFull = 32;

std::string NameOf(const std::vector<NodeSeen>& nodes, int rank) {
  const NodeSeen& node = nodes[static_cast<size_t>(rank)];
  if (!node.report) return absl::StrCat("rank ", rank);
  const std::string& host = node.report->host;
  int alike = 0;
  for (const NodeSeen& other : nodes) {
    if (other.report && other.report->host == host) ++alike;
  }
  return alike > 1 ? absl::StrCat(host, "#", rank) : host;
}

// "driver: 550.54 on a, b; 535.10 on c" of each name whose values differ.
void CompareTexts(const std::vector<NodeSeen>& nodes, const char* id,
                  std::map<std::string, std::string> NodeReport::*texts,
                  std::vector<Finding>& findings) {
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
          NameOf(nodes, static_cast<int>(rank)));
    }
    if (by_value.size() < 2) continue;
    std::vector<std::string> parts;
    for (const auto& [value, who] : by_value) {
      parts.push_back(absl::StrCat(value, " on ", Listed(who)));
    }
    findings.push_back(
        Found(id, absl::StrCat(name, ": ", absl::StrJoin(parts, "; "))));
  }
}

void CompareReach(const std::vector<NodeSeen>& nodes,
                  std::vector<Finding>& findings) {
  for (size_t rank = 0; rank < nodes.size(); ++rank) {
    // By reason, so that a node that nobody reaches does not fill the page.
    std::map<std::string, std::vector<std::string>> failed;
    for (const auto& [other, probe] : nodes[rank].probes) {
      if (probe.error.empty()) continue;
      const std::string& address = nodes[static_cast<size_t>(other)].address;
      failed[probe.error].push_back(
          absl::StrCat(NameOf(nodes, other), " (", address, ")"));
    }
    for (const auto& [error, who] : failed) {
      findings.push_back(
          Found("nodes-unreachable",
                absl::StrCat(NameOf(nodes, static_cast<int>(rank)),
                             " cannot connect to ", Listed(who), ": ", error)));
    }
  }
}

void CompareClocks(const std::vector<NodeSeen>& nodes,
                   std::vector<Finding>& findings) {
  // All by rank 0's clock, which everybody has asked for.
  std::vector<std::string> off;
  for (size_t rank = 1; rank < nodes.size(); ++rank) {
    const auto asked = nodes[rank].probes.find(0);
    if (asked == nodes[rank].probes.end() || !asked->second.error.empty()) {
      continue;
    }
    const double ahead = -ToSeconds(asked->second.clock_ahead);
    // The way there and back is the error of the measurement.
    if (std::fabs(ahead) < 1.0 + ToSeconds(asked->second.round_trip)) continue;
    char text[48];
    std::snprintf(text, sizeof(text), " by %+.1f s", ahead);
    off.push_back(absl::StrCat(NameOf(nodes, static_cast<int>(rank)), text));
  }
  if (off.empty()) return;
  findings.push_back(Found("nodes-clock-skew",
                           absl::StrCat("clocks differ from ", NameOf(nodes, 0),
                                        "'s: ", Listed(off))));
}

std::string Summary(const std::vector<NodeSeen>& nodes) {
  std::vector<std::string> names;
  Duration slowest = Duration::zero();
  int reached = 0;
  for (size_t rank = 0; rank < nodes.size(); ++rank) {
    names.push_back(NameOf(nodes, static_cast<int>(rank)));
    for (const auto& [other, probe] : nodes[rank].probes) {
      if (!probe.error.empty()) continue;
      ++reached;
      slowest = std::max(slowest, probe.round_trip);
    }
  }
  char milliseconds[32];
  std::snprintf(milliseconds, sizeof(milliseconds), "%.1f ms",
                ToSeconds(slowest) * 1e3);
  return absl::StrCat(
      Listed(names),
      reached == 0 ? ""
                   : absl::StrCat("; ", reached,
                                  " connections between them, the slowest in ",
                                  milliseconds));
}

}  // namespace

std::vector<int> ProbedBy(int rank, int nodes) {
  std::vector<int> others;
  if (nodes <= kMostInFull) {
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

std::vector<Finding> CompareNodes(const std::vector<NodeSeen>& nodes) {
  std::vector<Finding> findings = {Found("nodes", Summary(nodes))};
  std::vector<std::string> absent;
  for (size_t rank = 0; rank < nodes.size(); ++rank) {
    if (!nodes[rank].report) absent.push_back(absl::StrCat("rank ", rank));
  }
  if (!absent.empty()) {
    findings.push_back(
        Found("nodes-missing", absl::StrCat(Listed(absent), " told nothing")));
  }
  CompareReach(nodes, findings);
  CompareTexts(nodes, "nodes-versions-differ", &NodeReport::versions, findings);
  CompareTexts(nodes, "nodes-hardware-differ", &NodeReport::hardware, findings);
  CompareClocks(nodes, findings);
  return findings;
}

}  // namespace muster
