#include <map>
#include <set>
#include <variant>

#include "absl/strings/str_cat.h"
#include "tests/simulation/checkers/checkers.h"

namespace muster::simulation {
namespace {

class PromiseChecker : public Checker {
 public:
  explicit PromiseChecker(const Plan& plan) : Checker(plan, "promises") {}

  void OnCoordinatorStarted(uint64_t epoch) override {
    if (!epochs_.insert(epoch).second) {
      Fail(absl::StrCat("two coordinators have the epoch ", epoch));
    }
  }
  void OnDirective(AgentName agent,
                   const rendezvous::Directive& directive) override {
    using rendezvous::DirectiveKind;
    const bool is_order = directive.kind != DirectiveKind::kStandBy &&
                          directive.kind != DirectiveKind::kMoved;
    if (!is_order || directive.epoch < promised_[agent.incarnation]) return;
    order_[agent.incarnation] = directive;
  }
  void OnAgentStepped(AgentName agent, const agent::LifecycleStep& step,
                      std::optional<Instant>) override {
    for (const auto& action : step.actions) {
      const auto* start = std::get_if<agent::StartWorkers>(&action);
      if (start != nullptr) CheckStart(agent, start->place);
    }
    if (step.leave.has_value() && step.leave->verdict.has_value()) {
      CheckOrder(agent, "leaves");
    }
    if (step.report.has_value()) CheckReport(agent, *step.report);
  }
  void OnAgentEnded(AgentName agent) override {
    promised_.erase(agent.incarnation);
    order_.erase(agent.incarnation);
  }

 private:
  // Returns the agent's newest directive from a coordinator that it may obey.
  // If there is none, reports a breach (the agent does `what` without a
  // directive) and returns null.
  const rendezvous::Directive* CheckOrder(AgentName agent, const char* what) {
    const auto found = order_.find(agent.incarnation);
    if (found != order_.end()) return &found->second;
    Fail(absl::StrCat("n", agent.slot, " ", what,
                      " and no coordinator that it obeys has told it to"));
    return nullptr;
  }
  void CheckStart(AgentName agent, const rendezvous::Place& place) {
    const rendezvous::Directive* order = CheckOrder(agent, "starts workers");
    if (order == nullptr) return;
    if (order->place.round != place.round ||
        order->place.epoch != place.epoch) {
      Fail(absl::StrCat("n", agent.slot, " starts round ", place.round,
                        " of epoch ", place.epoch, ", and was told ",
                        order->place.round, " of ", order->place.epoch));
    }
  }
  void CheckReport(AgentName agent, const rendezvous::Report& report) {
    uint64_t& promised = promised_[agent.incarnation];
    if (report.promised_epoch < promised) {
      Fail(absl::StrCat("n", agent.slot, " takes its promise of ", promised,
                        " back"));
    }
    promised = report.promised_epoch;
    uint64_t& seen = seen_[agent.incarnation];
    // With seen_epoch 0 the agent asks the coordinator to send the newest
    // directive again. Such a report names no epoch that could be checked.
    if (report.seen_epoch == 0) return;
    if (report.seen_epoch < seen) {
      Fail(absl::StrCat("n", agent.slot, " obeys epoch ", report.seen_epoch,
                        " after ", seen));
    }
    seen = report.seen_epoch;
  }

  std::set<uint64_t> epochs_;  // epochs of all coordinators so far
  // Three maps, by the agent's incarnation. promised_: the epoch that the agent
  // has promised to obey. seen_: the epoch that the agent obeys. Both are from
  // its newest report. order_: its newest directive from a coordinator that it
  // may obey.
  std::map<uint64_t, uint64_t> promised_;
  std::map<uint64_t, uint64_t> seen_;
  std::map<uint64_t, rendezvous::Directive> order_;
};

}  // namespace

std::unique_ptr<Checker> NewPromiseChecker(const Plan& plan) {
  return std::make_unique<PromiseChecker>(plan);
}

}  // namespace muster::simulation
