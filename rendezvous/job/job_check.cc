#include "rendezvous/job/job_check.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/message_text.h"
#include "rendezvous/network_check/network_check.h"
#include "rendezvous/protocol/node_fault.h"
#include "rendezvous/protocol/pair_check.h"

namespace muster::rendezvous {
namespace {

// Cuts `text` to kMaxCheckFaultBytes.
std::string BoundedFault(std::string text) {
  if (text.size() > kMaxCheckFaultBytes) {
    text.resize(kMaxCheckFaultBytes - 3);
    text.append("…");
  }
  return text;
}

// Records why the check by pairs found the node bad; empty: the node is good.
// If the node was good before, counts a fault against its machine.
void SetCheckFault(JobState& state, Outbox& outbox, Node& node,
                   const std::string& fault) {
  const bool was_bad = !node.check_fault.empty();
  state.nodes.Update(node, [&](Node& n) {
    n.check_fault = fault;
    n.fault_is_waived = false;
  });
  if (!fault.empty()) {
    outbox.Note("unhealthy", node.identity.node_id,
                absl::StrCat(node.identity.host, " is kept out: ", fault));
    // Count a fault only if the node was good before. If it was bad before, an
    // earlier check has already counted a fault.
    if (!was_bad) {
      outbox.Count({.host = {node.identity.host, node.peer},
                    .kind = FaultKind::kCheck,
                    .run_id = state.run_id,
                    .text = fault.substr(0, kMaxFaultBytes)});
    }
  } else if (was_bad) {
    outbox.Note("healthy", node.identity.node_id,
                absl::StrCat(node.identity.host,
                             " is good in the check by pairs again"));
  }
  outbox.Tell(node);
}

}  // namespace

void Suspect(JobState& state) {
  if (!state.checks.Suspect()) return;
  ++state.changes;
  ++state.handover.number;
}

bool CheckDelaysWorld(JobState& state, Outbox& outbox) {
  if (!state.checks.is_due() ||
      state.now >= state.gathering.Limit(state.spec, state.clock)) {
    return false;
  }
  PairChecks& checks = state.checks;
  if (checks.current() != nullptr && checks.current()->is_measuring()) {
    return true;
  }
  std::vector<NetworkCheck::Participant> present;
  for (const auto& [id, node] : state.nodes.nodes()) {
    if (!node.checkable()) continue;
    present.push_back({id, node.identity.host, node.check_gpus});
  }
  if (!checks.BeginRound(state.now, present)) return false;
  const NetworkCheck& check = *checks.current();
  outbox.Reword();
  outbox.Note("check", "",
              absl::StrCat("round ", check.rounds(), " of the check by pairs: ",
                           Counted(std::ssize(present), "node")));
  for (auto& [id, node] : state.nodes.nodes()) {
    if (check.PartnerOf(id).has_value()) outbox.Tell(node);
  }
  return true;
}

bool ConcludeCheck(JobState& state, Outbox& outbox) {
  if (state.checks.current() == nullptr) return false;
  NetworkCheck& check = *state.checks.current();
  const auto findings = check.Conclude();
  if (!findings.has_value()) return false;
  bool changed = false;
  int bad = 0;
  int gone = 0;
  std::vector<std::string> undecided;
  for (const NetworkCheck::Finding& finding : *findings) {
    using Grade = NetworkCheck::Grade;
    Node* const node = state.nodes.Find(finding.node_id);
    if (node == nullptr) {
      ++gone;
      continue;
    }
    std::string fault;
    if (finding.grade == Grade::kUndecided) {
      undecided.push_back(absl::StrCat(node->identity.host, ": ", finding.why));
    } else if (finding.grade != Grade::kGood) {
      ++bad;
      fault = BoundedFault(
          absl::StrCat(finding.grade == Grade::kSlow ? "slow" : "unreachable",
                       " in the check by pairs: ", finding.why));
    }
    if (node->check_fault == fault) continue;
    changed = true;
    SetCheckFault(state, outbox, *node, fault);
  }
  const std::string all_are_good =
      gone == 0 ? "all are good"
                : absl::StrCat(Counted(gone, "node"),
                               " left meanwhile, all others are good");
  outbox.Reword();
  outbox.Note(
      "check", "",
      absl::StrFormat("the check of %s by pairs took %.2f s and %s: %s%s",
                      Counted(std::ssize(*findings), "node"),
                      ToSeconds(check.LastedUntil(state.now)),
                      Counted(check.rounds(), "round"),
                      bad > 0             ? Counted(bad, "bad node")
                      : undecided.empty() ? all_are_good
                                          : "no node is known to be bad",
                      check.MediansText()));
  if (undecided.size() > kMaxNamedNodes) {
    undecided.resize(kMaxNamedNodes);
    undecided.emplace_back("…");
  }
  if (!undecided.empty()) {
    outbox.Note("check", "",
                absl::StrCat("warning: some nodes take part although it is "
                             "not known whether they are good, because they "
                             "were not measured with two good partners: ",
                             absl::StrJoin(undecided, "; ")));
  }
  return changed;
}

void WaiveFaults(JobState& state, Outbox& outbox) {
  const auto set_waived = [&state](Node& node, bool is_waived) {
    state.nodes.Update(node, [&](Node& n) { n.fault_is_waived = is_waived; });
  };
  // A node that the check by pairs found bad may get a place if its fault is
  // waived. Withdraw the waivers while more nodes have come than a world needs.
  while (!state.nodes.waived().empty() && MissingNodes(state) < 0) {
    Node& node = *state.nodes.Find(*state.nodes.waived().begin());
    set_waived(node, false);
    if (MissingNodes(state) <= 0) continue;
    // Without this node, too few of the nodes that elect a coordinator are
    // ready for a new world. So restore the waiver that was just withdrawn.
    set_waived(node, true);
    return;
  }
  if (state.now < WaiverTime(state) || MissingNodes(state) <= 0) return;
  std::vector<Node*> bad;
  for (const std::string& id : state.nodes.kept_out()) {
    Node* const node = state.nodes.Find(id);
    if (node->kept_out_by_check()) bad.push_back(node);
  }
  if (bad.empty()) return;
  // Sort the nodes that the check found bad: slow nodes before unreachable
  // nodes, so that slow nodes get a place first.
  std::set<std::string> unreachable;
  if (state.checks.current() != nullptr) {
    for (const NetworkCheck::Finding& finding :
         state.checks.current()->Judge()) {
      if (finding.grade == NetworkCheck::Grade::kFailed) {
        unreachable.insert(finding.node_id);
      }
    }
  }
  std::ranges::stable_sort(bad, {}, [&](const Node* node) {
    return unreachable.contains(node->identity.node_id);
  });
  const int good = state.nodes.ready();
  for (Node* const node : bad) {
    if (MissingNodes(state) <= 0) return;
    set_waived(*node, true);
    outbox.Reword();
    outbox.Note(
        "check", node->identity.node_id,
        absl::StrCat("warning: ", node->identity.host,
                     " takes part although it is bad, because only ", good,
                     " of at least ", Counted(state.spec.min_nodes, "node"),
                     " are good: ", node->check_fault));
  }
}

}  // namespace muster::rendezvous
