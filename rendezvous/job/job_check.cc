// The part of Job that checks the nodes by pairs before a round
// (--network-check). A check never ends a job: nodes that the check finds bad
// get a place nevertheless if too few other nodes are left for a world.

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/message_text.h"
#include "rendezvous/job/job.h"

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

}  // namespace

void Job::TakeMeasurement(const Node& node, const Report& report) {
  if (!state_.check.has_value() || !report.measurement.has_value() ||
      report.measurement->epoch != state_.epoch) {
    return;
  }
  state_.check->Take(node.identity.node_id, *report.measurement);
}

bool Job::CheckDelaysWorld() {
  if (!state_.is_check_due ||
      state_.now >= state_.gathering.Limit(state_.spec, state_.clock)) {
    return false;
  }
  if (!state_.check.has_value()) state_.check.emplace(state_.now);
  NetworkCheck& check = *state_.check;
  if (check.is_measuring()) return true;
  std::vector<NetworkCheck::Participant> present;
  for (const auto& [id, node] : state_.nodes.nodes()) {
    if (!node.checkable()) continue;
    present.push_back({id, node.identity.host, node.check_gpus});
  }
  const uint64_t number = state_.measurements + 1;
  if (!check.BeginRound(state_.now, number, present)) return false;
  state_.measurements = number;
  outbox_.Reword();
  outbox_.Note(
      "check", "",
      absl::StrCat("round ", check.rounds(), " of the check by pairs: ",
                   Counted(std::ssize(present), "node")));
  for (auto& [id, node] : state_.nodes.nodes()) {
    if (check.PartnerOf(id).has_value()) outbox_.Tell(node);
  }
  return true;
}

bool Job::ConcludeCheck() {
  if (!state_.check.has_value()) return false;
  const auto findings = state_.check->Conclude();
  if (!findings.has_value()) return false;
  const NetworkCheck& check = *state_.check;
  bool changed = false;
  int bad = 0;
  int gone = 0;
  std::vector<std::string> undecided;
  for (const NetworkCheck::Finding& finding : *findings) {
    using Grade = NetworkCheck::Grade;
    Node* const node = state_.nodes.Find(finding.node_id);
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
    SetCheckFault(*node, fault);
  }
  const std::string all_are_good =
      gone == 0 ? "all are good"
                : absl::StrCat(Counted(gone, "node"),
                               " left meanwhile, all others are good");
  outbox_.Reword();
  outbox_.Note(
      "check", "",
      absl::StrFormat("the check of %s by pairs took %.2f s and %s: %s%s",
                      Counted(std::ssize(*findings), "node"),
                      ToSeconds(check.LastedUntil(state_.now)),
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
    outbox_.Note("check", "",
                 absl::StrCat("warning: some nodes take part although it is "
                              "not known whether they are good, because they "
                              "were not measured with two good partners: ",
                              absl::StrJoin(undecided, "; ")));
  }
  return changed;
}

void Job::SetCheckFault(Node& node, const std::string& fault) {
  const bool was_bad = !node.check_fault.empty();
  state_.nodes.Update(node, [&](Node& n) {
    n.check_fault = fault;
    n.fault_is_waived = false;
  });
  if (!fault.empty()) {
    outbox_.Note("unhealthy", node.identity.node_id,
                 absl::StrCat(node.identity.host, " is kept out: ", fault));
    // Count a fault only if the node was good before. If it was bad before, an
    // earlier check has already counted a fault.
    if (!was_bad) {
      outbox_.Count({.host = {node.identity.host, node.peer},
                     .kind = FaultKind::kCheck,
                     .run_id = state_.run_id,
                     .text = fault.substr(0, kMaxFaultBytes)});
    }
  } else if (was_bad) {
    outbox_.Note("healthy", node.identity.node_id,
                 absl::StrCat(node.identity.host,
                              " is good in the check by pairs again"));
  }
  outbox_.Tell(node);
}

void Job::WaiveFaults() {
  const auto set_waived = [this](Node& node, bool is_waived) {
    state_.nodes.Update(node, [&](Node& n) { n.fault_is_waived = is_waived; });
  };
  // A node that the check by pairs found bad may get a place if its fault is
  // waived. Withdraw the waivers while more nodes have come than a world needs.
  while (!state_.nodes.waived().empty() && MissingNodes(state_) < 0) {
    Node& node = *state_.nodes.Find(*state_.nodes.waived().begin());
    set_waived(node, false);
    if (MissingNodes(state_) <= 0) continue;
    // Without this node, too few of the nodes that elect a coordinator are
    // ready for a new world. So restore the waiver that was just withdrawn.
    set_waived(node, true);
    return;
  }
  if (state_.now < WaiverTime(state_) || MissingNodes(state_) <= 0) return;
  std::vector<Node*> bad;
  for (const std::string& id : state_.nodes.kept_out()) {
    Node* const node = state_.nodes.Find(id);
    if (node->kept_out_by_check()) bad.push_back(node);
  }
  if (bad.empty()) return;
  // Sort the nodes that the check found bad: slow nodes before unreachable
  // nodes, so that slow nodes get a place first.
  std::set<std::string> unreachable;
  if (state_.check.has_value()) {
    for (const NetworkCheck::Finding& finding : state_.check->Judge()) {
      if (finding.grade == NetworkCheck::Grade::kFailed) {
        unreachable.insert(finding.node_id);
      }
    }
  }
  std::ranges::stable_sort(bad, {}, [&](const Node* node) {
    return unreachable.contains(node->identity.node_id);
  });
  const int good = state_.nodes.ready();
  for (Node* const node : bad) {
    if (MissingNodes(state_) <= 0) return;
    set_waived(*node, true);
    outbox_.Reword();
    outbox_.Note(
        "check", node->identity.node_id,
        absl::StrCat("warning: ", node->identity.host,
                     " takes part although it is bad, because only ", good,
                     " of at least ", Counted(state_.spec.min_nodes, "node"),
                     " are good: ", node->check_fault));
  }
}

}  // namespace muster::rendezvous
