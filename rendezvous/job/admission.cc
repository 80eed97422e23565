#include "rendezvous/job/admission.h"

#include <iterator>

#include "absl/strings/str_cat.h"

namespace muster::rendezvous {
namespace {

std::optional<std::string> BadName(const char* what, const std::string& name) {
  if (name.empty()) return absl::StrCat("the ", what, " is empty");
  if (name.size() > kMaxNameBytes) {
    return absl::StrCat("the ", what, " has ", name.size(), " bytes; at most ",
                        kMaxNameBytes);
  }
  for (char c : name) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      return absl::StrCat("the ", what, " holds a control character");
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> Unsound(const Report& report) {
  if (report.protocol_version != kProtocolVersion) {
    return absl::StrCat("this node speaks protocol version ",
                        report.protocol_version, ", the coordinator ",
                        kProtocolVersion,
                        "; install the same Muster on every node");
  }
  const NodeIdentity& node = report.node;
  const struct {
    const char* what;
    const std::string& name;
  } names[] = {{"run id", report.run_id},
               {"node id", node.node_id},
               {"host name", node.host},
               {"node's address", node.address},
               {"role", node.role}};
  for (const auto& name : names) {
    if (auto bad = BadName(name.what, name.name)) return bad;
  }
  if (node.slots < 1 || node.slots > kMaxSlots) {
    return absl::StrCat("a node with ", node.slots, " workers; 1 to ",
                        kMaxSlots);
  }
  if (std::ssize(node.topology) > kMaxTopologyKeys) {
    return absl::StrCat(node.topology.size(), " topology keys; at most ",
                        kMaxTopologyKeys);
  }
  if (report.round < 0 || report.round > kMaxRounds ||
      report.offered_master_port < 0 || report.offered_master_port > 65535) {
    return "a round or port out of range";
  }
  absl::Status spec = report.spec.Validate();
  if (!spec.ok()) return std::string(spec.message());
  return std::nullopt;
}

std::optional<Objection> Incompatible(const JobSpec& spec,
                                      const Report& report) {
  if (auto disagreement = Disagreement(spec, report.spec)) return disagreement;
  const std::optional<int>& rank = report.node.node_rank;
  if (rank.has_value() && (*rank < 0 || *rank >= spec.max_nodes)) {
    const std::string why = absl::StrCat(
        "node rank ", *rank, " is out of range: --nnodes=", spec.max_nodes,
        " allows 0 to ", spec.max_nodes - 1);
    return Objection{.told = why, .noted = why};
  }
  return std::nullopt;
}

}  // namespace muster::rendezvous
