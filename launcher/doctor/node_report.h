#ifndef MUSTER_LAUNCHER_DOCTOR_NODE_REPORT_H_
#define MUSTER_LAUNCHER_DOCTOR_NODE_REPORT_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "agent/health/finding.h"
#include "agent/health/node_facts.h"

namespace muster::launcher {

// What `launch doctor` found on one node, as it goes from node to node.
struct NodeReport {
  std::string host;
  std::string node;              // its name in the job; empty: in none
  std::optional<int> node_rank;  // as somebody gave it
  // "advertised": where peers dial this node; "seen": whom the coordinator
  // sees. Empty where nobody was asked.
  std::map<std::string, std::string> addresses;
  std::vector<agent::Finding> findings;
  // What should be equal on all nodes of a job, by name: "driver", "NCCL".
  std::map<std::string, std::string> versions;
  std::map<std::string, std::string> hardware;
};

// Pure.
NodeReport ReportOf(const agent::NodeFacts& facts,
                    std::vector<agent::Finding> findings);

// A JSON object on one line, as docs/DOCTOR.md describes it, and back.
// InvalidArgument: no such object, or beyond any sound size. Pure.
std::string NodeReportJson(const NodeReport& report);
absl::StatusOr<NodeReport> ParseNodeReport(const std::string& json);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_DOCTOR_NODE_REPORT_H_
