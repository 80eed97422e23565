#include "rendezvous/job/admission.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "base/secrets.h"

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

// Whether `members`, a list of node ids, has the right length for a world of
// `nodes` nodes: one id for each node, or no id at all, as in reports of a
// large world.
bool IsListOf(const std::vector<std::string>& members, int nodes) {
  return members.empty() ||
         (nodes <= kMaxListedElectors && std::ssize(members) == nodes);
}

std::optional<std::string> BadPlace(const Report& report, const Place& place) {
  const int size = place.group_world_size;
  if (place.round != report.round) {
    return absl::StrCat("a place in round ", place.round,
                        " in a report of round ", report.round);
  }
  if (size < 1 || size > report.spec.max_nodes || place.group_rank < 0 ||
      place.group_rank >= size) {
    return absl::StrCat("group rank ", place.group_rank, " of ", size,
                        " nodes; the job has at most ", report.spec.max_nodes);
  }
  if (place.world_size < 1 || place.first_rank < 0 ||
      place.first_rank > place.world_size - report.node.slots) {
    return absl::StrCat("ranks from ", place.first_rank, " of ",
                        place.world_size, " for ", report.node.slots,
                        " workers");
  }
  if (!IsListOf(place.members, size)) {
    return absl::StrCat("a world of ", size, " nodes lists ",
                        place.members.size());
  }
  if (place.electors < 0 || place.electors > size) {
    return absl::StrCat(place.electors, " electors in a world of ", size,
                        " nodes");
  }
  if (!place.store_clients.empty() || !place.channel_key.empty()) {
    return "the reported place has the store's clients or a key";
  }
  return std::nullopt;
}

std::optional<std::string> BadElectorate(const Report& report,
                                         const Electorate& electorate) {
  const int nodes = electorate.nodes;
  if (nodes < 0 || nodes > report.spec.max_nodes || electorate.rank < -1 ||
      electorate.rank >= std::max(nodes, 0)) {
    return absl::StrCat("group rank ", electorate.rank, " in an electorate of ",
                        nodes, " nodes; the job has at most ",
                        report.spec.max_nodes);
  }
  if (!IsListOf(electorate.members, nodes)) {
    return absl::StrCat("an electorate of ", nodes, " nodes lists ",
                        electorate.members.size());
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
  if (std::ssize(node.gpus) > kMaxGpuNames) {
    return absl::StrCat(node.gpus.size(), " names of GPUs; at most ",
                        kMaxGpuNames);
  }
  if (report.round < 0) {
    return absl::StrCat("a report of round ", report.round, "; 0 or more");
  }
  if (report.offered_master_port < 0 || report.offered_master_port > 65535) {
    return absl::StrCat("the offered port is ", report.offered_master_port,
                        "; 0 to 65535");
  }
  if (std::ssize(report.progress) > node.slots) {
    return absl::StrCat("progress of ", report.progress.size(),
                        " workers from a node with ", node.slots);
  }
  for (const WorkerProgress& worker : report.progress) {
    if (worker.local_rank >= 0 && worker.local_rank < node.slots) continue;
    return absl::StrCat("progress of local rank ", worker.local_rank,
                        " from a node with ", node.slots, " workers");
  }
  if (std::ssize(report.times) > node.slots) {
    return absl::StrCat("times of ", report.times.size(),
                        " workers from a node with ", node.slots);
  }
  for (const RankTimes& worker : report.times) {
    if (worker.local_rank >= 0 && worker.local_rank < node.slots) continue;
    return absl::StrCat("times of local rank ", worker.local_rank,
                        " from a node with ", node.slots, " workers");
  }
  // An agent sends at most kMaxNodeAddresses addresses. The coordinator adds
  // one, the address from which the agent's connection comes. A report with
  // more addresses is invalid.
  if (std::ssize(report.addresses) > kMaxNodeAddresses + 1) {
    return absl::StrCat(report.addresses.size(),
                        " addresses of a node; at most ", kMaxNodeAddresses);
  }
  absl::Status spec = report.spec.Validate();
  if (!spec.ok()) return std::string(spec.message());
  if (auto bad = BadElectorate(report, report.electorate)) return bad;
  if (report.place.has_value()) return BadPlace(report, *report.place);
  return std::nullopt;
}

std::optional<std::string> ImpossibleRound(const Report& report, int newest) {
  const int most = std::max(newest, kMaxClaimedRound);
  const int named = std::max(report.round, report.electorate.world.round);
  if (named <= most) return std::nullopt;
  return absl::StrCat(
      "this node reports round ", named,
      ", which this job cannot have begun: its newest round is ", newest,
      ", and a report may name at most round ", most,
      "; start the agent of this node again");
}

StreamOwner OwnerOf(const Report& report) {
  return {.run_id = report.run_id,
          .node_id = report.node.node_id,
          .incarnation = report.node.incarnation};
}

std::optional<std::string> ForeignReport(const StreamOwner& owner,
                                         const Report& report) {
  if (owner.run_id != report.run_id) {
    return absl::StrCat("one stream speaks for one job: first \"", owner.run_id,
                        "\", now \"", report.run_id, "\"");
  }
  if (owner.node_id != report.node.node_id) {
    return absl::StrCat("one stream speaks for one node: first \"",
                        owner.node_id, "\", now \"", report.node.node_id,
                        "\"; open a stream for each node");
  }
  if (owner.incarnation != report.node.incarnation) {
    return absl::StrCat("one stream speaks for one agent: node \"",
                        owner.node_id,
                        "\" reports another incarnation; open a stream for "
                        "each start of an agent");
  }
  return std::nullopt;
}

bool ShowsPlaceKey(const Report& report, const std::string& place_key) {
  return place_key.empty() || IsSameSecret(report.place_key, place_key);
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
