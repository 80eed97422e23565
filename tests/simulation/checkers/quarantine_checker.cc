#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tests/simulation/checkers/checkers.h"

namespace muster::simulation {
namespace {

using rendezvous::HostState;
using rendezvous::NodeStatus;

bool IsQuarantined(const NodeStatus& node) {
  return node.judgement.state == HostState::kQuarantined;
}

class QuarantineChecker : public Checker {
 public:
  explicit QuarantineChecker(const Plan& plan) : Checker(plan, "quarantine") {}

  void OnCoordinatorCrashed() override { waiting_.clear(); }
  void OnReport(AgentName from, rendezvous::StreamId,
                const rendezvous::Report& report) override {
    seen_[from.slot] = {report.seen_epoch, report.seen_revision};
  }
  void OnStreamClosed(AgentName of, rendezvous::StreamId) override {
    waiting_.erase(of.slot);
  }
  void OnStep(const CoordinatorStepped& step) override {
    const bool began = std::any_of(step.decisions.begin(), step.decisions.end(),
                                   [](const rendezvous::Decision& decision) {
                                     return decision.kind == "assign";
                                   });
    // Check only plans without takeovers. With takeovers, a world needs at
    // least half of the nodes that elect coordinators, even quarantined ones.
    if (began && !plan().takeover) CheckWorld(step.status);
    for (const Sent& sent : step.sent) {
      waiting_.erase(sent.to.slot);
      const rendezvous::Directive& directive = sent.directive;
      if (directive.kind == rendezvous::DirectiveKind::kWait) {
        waiting_[sent.to.slot] = {directive.epoch, directive.revision};
      }
    }
  }

 private:
  void CheckWorld(const rendezvous::JobStatus& status) {
    int members = 0;
    std::string quarantined;
    std::string good;
    for (const NodeStatus& node : status.nodes) {
      members += node.group_rank.has_value() ? 1 : 0;
      if (IsQuarantined(node) && node.group_rank.has_value()) {
        quarantined = node.node.node_id;
      }
      if (!IsQuarantined(node) && IsReadySpare(node)) good = node.node.node_id;
    }
    if (quarantined.empty()) return;
    if (members > plan().spec.min_nodes) {
      Fail(absl::StrCat("round ", status.round, " begins with ", quarantined,
                        ", which is quarantined, and more than the minimum of ",
                        plan().spec.min_nodes, " nodes"));
    }
    if (!good.empty()) {
      Fail(absl::StrCat("round ", status.round, " begins with ", quarantined,
                        ", which is quarantined, and without ", good));
    }
  }
  // Whether `node` is a spare that the coordinator must know to be ready: the
  // node is healthy and idle, and its newest report confirms the coordinator's
  // newest order to wait.
  bool IsReadySpare(const NodeStatus& node) const {
    const int slot = std::stoi(node.node.node_id.substr(1));
    const auto waiting = waiting_.find(slot);
    const auto seen = seen_.find(slot);
    return !node.group_rank.has_value() && node.connected && !node.draining &&
           node.health == rendezvous::Health::kHealthy &&
           node.phase == rendezvous::NodePhase::kIdle &&
           waiting != waiting_.end() && seen != seen_.end() &&
           seen->second == waiting->second;
  }

  // Two maps; key: a node's slot (its number in the simulation). waiting_: the
  // newest directive that orders the node to wait. seen_: the newest directive
  // that the node's newest report names. A directive is identified by its epoch
  // and revision.
  using Revision = std::pair<uint64_t, uint64_t>;
  std::map<int, Revision> waiting_;
  std::map<int, Revision> seen_;
};

}  // namespace

std::unique_ptr<Checker> NewQuarantineChecker(const Plan& plan) {
  return std::make_unique<QuarantineChecker>(plan);
}

}  // namespace muster::simulation
