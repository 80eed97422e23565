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

// The result of `launch doctor` on one node, as sent to other nodes.
struct NodeReport {
  std::string host;
  std::string node;  // the node's id in the job; empty: not in a job
  // value of the node's --node-rank; nullopt: not given
  std::optional<int> node_rank;
  // "advertised": the address at which peers reach this node; "seen": the
  // address that the coordinator sees. Empty if no coordinator was asked.
  std::map<std::string, std::string> addresses;
  std::vector<agent::Finding> findings;
  // Values that should be equal on all nodes of a job, by name: "driver",
  // "NCCL".
  std::map<std::string, std::string> versions;
  std::map<std::string, std::string> hardware;
};

// Builds the report of a node from its facts. Pure.
NodeReport ReportOf(const agent::NodeFacts& facts,
                    std::vector<agent::Finding> findings);

// Converts a report to a JSON object on one line (described in docs/DOCTOR.md),
// and back. InvalidArgument: the text is not such an object, or too long. Pure.
std::string NodeReportJson(const NodeReport& report);
absl::StatusOr<NodeReport> ParseNodeReport(const std::string& json);

// The result of `launch doctor --nodes`.
struct NodesPage {
  std::vector<NodeReport> reports;  // one report for each node that sent one
  // findings about differences between nodes and about their connections
  std::vector<agent::Finding> between;
  int expected = 0;  // number of nodes that should report; 0: unknown
};

// The names of the reports' nodes on a page: the host's name; if several nodes
// have this host name, the node's id; if the id is empty or not unique,
// HOST#INDEX.
std::vector<std::string> NodeNames(const std::vector<NodeReport>& reports);

// The worst severity of all findings.
agent::Severity WorstOfPage(const NodesPage& page);

// Converts a page to JSON on one line (described in docs/DOCTOR.md), and back.
// InvalidArgument: the text is not a page, or too long. Pure.
std::string NodesJson(const NodesPage& page);
absl::StatusOr<NodesPage> ParseNodesJson(const std::string& text);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_DOCTOR_NODE_REPORT_H_
