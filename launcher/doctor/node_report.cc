#include "launcher/doctor/node_report.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/health/wording.h"

namespace muster::launcher {
namespace {

using Json = nlohmann::ordered_json;

// Limit in bytes for a report from another node. Real reports are far smaller.
constexpr size_t kMaxReportBytes = 1 << 20;
constexpr size_t kMaxFindings = 1000;
constexpr int64_t kMaxRanks = 1'000'000;

void Add(const std::string& name, const std::string& value,
         std::map<std::string, std::string>& into) {
  if (!value.empty()) into[name] = value;
}

agent::Severity SeverityOf(const std::string& text) {
  for (const agent::Severity severity :
       {agent::Severity::kOk, agent::Severity::kNote,
        agent::Severity::kWarning}) {
    if (text == agent::SeverityText(severity)) return severity;
  }
  return agent::Severity::kError;
}

std::map<std::string, std::string> TextsOf(const Json& json, const char* name) {
  std::map<std::string, std::string> texts;
  const auto object = json.find(name);
  if (object == json.end() || !object->is_object()) return texts;
  for (const auto& [key, value] : object->items()) {
    if (value.is_string()) texts[key] = value.get<std::string>();
  }
  return texts;
}

std::string TextOf(const Json& json, const char* name) {
  const auto value = json.find(name);
  return value != json.end() && value->is_string() ? value->get<std::string>()
                                                   : "";
}

// Parses JSON and leaves out values that are nested more deeply than any value
// of a page. The limit is needed because the JSON library copies nested values
// by recursion. Returns a discarded value (Json::is_discarded) if `text` is not
// JSON.
Json ParseShallow(const std::string& text) {
  constexpr int kMaxDepth = 8;
  const auto shallow = [](int depth, Json::parse_event_t, Json&) {
    return depth <= kMaxDepth;
  };
  return Json::parse(text, shallow, /*allow_exceptions=*/false);
}

absl::StatusOr<NodeReport> ReportFrom(const Json& json) {
  if (json.is_discarded() || !json.is_object()) {
    return absl::InvalidArgumentError("a node's report is no JSON object");
  }
  NodeReport report;
  report.host = TextOf(json, "host");
  report.node = TextOf(json, "node");
  const auto rank = json.find("node_rank");
  if (rank != json.end() && rank->is_number_integer()) {
    const int64_t number = rank->get<int64_t>();
    if (number >= 0 && number < kMaxRanks) {
      report.node_rank = static_cast<int>(number);
    }
  }
  report.addresses = TextsOf(json, "addresses");
  report.versions = TextsOf(json, "versions");
  report.hardware = TextsOf(json, "hardware");
  const auto findings = json.find("findings");
  if (findings == json.end() || !findings->is_array() ||
      findings->size() > kMaxFindings) {
    return absl::InvalidArgumentError("a node's report has no findings");
  }
  for (const Json& one : *findings) {
    if (!one.is_object()) continue;
    report.findings.push_back({SeverityOf(TextOf(one, "severity")),
                               TextOf(one, "id"), TextOf(one, "what"),
                               TextOf(one, "remedy")});
  }
  return report;
}

}  // namespace

NodeReport ReportOf(const agent::NodeFacts& facts,
                    std::vector<agent::Finding> findings) {
  NodeReport report;
  report.host = facts.network.host_name;
  if (facts.coordinator) {
    Add("advertised", facts.coordinator->advertised_address, report.addresses);
    Add("seen", facts.coordinator->seen_address, report.addresses);
  }
  report.findings = std::move(findings);
  const agent::LibraryFacts& libraries = facts.libraries;
  Add("muster", facts.version, report.versions);
  Add("driver",
      facts.gpus.driver_version.empty() ? libraries.kernel_driver
                                        : facts.gpus.driver_version,
      report.versions);
  if (libraries.runtime_cuda) {
    Add("CUDA", agent::CudaText(*libraries.runtime_cuda), report.versions);
  }
  Add("NCCL", libraries.toolkit_nccl, report.versions);
  Add("PyTorch", libraries.torch_version, report.versions);
  Add("PyTorch's NCCL", libraries.torch_nccl, report.versions);
  std::map<std::string, int> kinds;
  for (const agent::GpuDevice& gpu : facts.gpus.devices) ++kinds[gpu.name];
  std::vector<std::string> gpus;
  for (const auto& [name, count] : kinds) {
    gpus.push_back(absl::StrCat(count, " x ", name));
  }
  Add("GPUs", gpus.empty() ? "none" : agent::Listed(gpus), report.hardware);
  Add("cores", absl::StrCat(facts.host.own_cores), report.hardware);
  // The memory size is rounded, since equal machines differ by a few pages.
  Add("memory",
      absl::StrCat(std::llround(static_cast<double>(facts.host.memory) /
                                (int64_t{1} << 30)),
                   " GiB"),
      report.hardware);
  Add("kernel", facts.host.kernel, report.hardware);
  return report;
}

std::string NodeReportJson(const NodeReport& report) {
  Json findings = Json::array();
  for (const agent::Finding& finding : report.findings) {
    const agent::FindingKind* kind = agent::KindOf(finding.id);
    findings.push_back(
        {{"severity", agent::SeverityText(finding.severity)},
         {"id", finding.id},
         {"group", kind == nullptr ? "" : GroupTitle(kind->group)},
         {"what", finding.what},
         {"remedy", finding.remedy}});
  }
  Json json = {{"schema", 1}, {"host", report.host}};
  if (!report.node.empty()) json["node"] = report.node;
  if (report.node_rank) json["node_rank"] = *report.node_rank;
  json["severity"] = agent::SeverityText(agent::WorstOf(report.findings));
  json["versions"] = report.versions;
  json["hardware"] = report.hardware;
  if (!report.addresses.empty()) json["addresses"] = report.addresses;
  json["findings"] = findings;
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

absl::StatusOr<NodeReport> ParseNodeReport(const std::string& text) {
  if (text.size() > kMaxReportBytes) {
    return absl::InvalidArgumentError("a node's report is too long");
  }
  return ReportFrom(ParseShallow(text));
}

namespace {

using Json = nlohmann::ordered_json;

// Limit for a page in JSON, in bytes; far above the page of a thousand nodes.
constexpr size_t kMaxPageBytes = 64 << 20;
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
  if (text.size() > kMaxPageBytes) {
    return absl::InvalidArgumentError("the nodes' page is too long");
  }
  const Json json = ParseShallow(text);
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
  absl::StatusOr<NodeReport> own = ReportFrom(*between);
  if (!own.ok()) return own.status();
  page.between = std::move(own->findings);
  for (const Json& node : *nodes) {
    absl::StatusOr<NodeReport> report = ReportFrom(node);
    if (!report.ok()) return report.status();
    page.reports.push_back(*std::move(report));
  }
  return page;
}

}  // namespace muster::launcher
