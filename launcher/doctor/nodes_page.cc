#include "launcher/doctor/nodes_page.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"

namespace muster::launcher {
namespace {

using Json = nlohmann::ordered_json;

// Well above the page of a thousand nodes.
constexpr size_t kMaxBytes = 64 << 20;
constexpr size_t kMaxNodes = 100'000;

}  // namespace

std::vector<std::string> NodeNames(const std::vector<NodeReport>& reports) {
  std::map<std::string, int> hosts;
  std::map<std::string, int> nodes;
  for (const NodeReport& report : reports) {
    ++hosts[report.host];
    ++nodes[report.node];
  }
  std::vector<std::string> names;
  for (const NodeReport& report : reports) {
    const bool is_named = !report.node.empty() && nodes[report.node] == 1;
    if (hosts[report.host] == 1) {
      names.push_back(report.host);
    } else if (is_named) {
      names.push_back(report.node);
    } else {
      names.push_back(absl::StrCat(report.host, "#", names.size()));
    }
  }
  return names;
}

agent::Severity WorstOfPage(const NodesPage& page) {
  agent::Severity worst = agent::WorstOf(page.between);
  for (const NodeReport& report : page.reports) {
    worst = std::max(worst, agent::WorstOf(report.findings));
  }
  return worst;
}

std::string NodesJson(const NodesPage& page) {
  NodeReport own;
  own.findings = page.between;
  std::string nodes;
  for (const NodeReport& report : page.reports) {
    absl::StrAppend(&nodes, nodes.empty() ? "" : ", ", NodeReportJson(report));
  }
  return absl::StrCat("{\"schema\": 1, \"severity\": \"",
                      agent::SeverityText(WorstOfPage(page)),
                      "\", \"expected\": ", page.expected,
                      ", \"between\": ", NodeReportJson(own), ", \"nodes\": [",
                      nodes, "]}");
}

absl::StatusOr<NodesPage> ParseNodesJson(const std::string& text) {
  if (text.size() > kMaxBytes) {
    return absl::InvalidArgumentError("the nodes' page is too long");
  }
  const Json json = Json::parse(text, nullptr, false);
  const auto none =
      absl::InvalidArgumentError("the nodes' page is no such JSON object");
  if (json.is_discarded() || !json.is_object()) return none;
  const auto between = json.find("between");
  const auto nodes = json.find("nodes");
  if (between == json.end() || nodes == json.end() || !nodes->is_array() ||
      nodes->size() > kMaxNodes) {
    return none;
  }
  NodesPage page;
  const auto expected = json.find("expected");
  if (expected != json.end() && expected->is_number_unsigned()) {
    page.expected = static_cast<int>(
        std::min<uint64_t>(expected->get<uint64_t>(), kMaxNodes));
  }
  absl::StatusOr<NodeReport> own = ParseNodeReport(between->dump());
  if (!own.ok()) return own.status();
  page.between = std::move(own->findings);
  for (const Json& node : *nodes) {
    absl::StatusOr<NodeReport> report = ParseNodeReport(node.dump());
    if (!report.ok()) return report.status();
    page.reports.push_back(*std::move(report));
  }
  return page;
}

}  // namespace muster::launcher
