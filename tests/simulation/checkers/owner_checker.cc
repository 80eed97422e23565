#include <map>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "tests/simulation/checkers/checkers.h"

namespace muster::simulation {
namespace {

class OwnerChecker : public Checker {
 public:
  explicit OwnerChecker(const Plan& plan) : Checker(plan, "one owner") {}

  void OnStep(const CoordinatorStepped& step) override {
    bool assigned = false;
    for (const rendezvous::Decision& decision : step.decisions) {
      assigned = assigned || decision.kind == "assign";
    }
    if (!assigned) return;
    for (const Sent& sent : step.sent) {
      if (sent.directive.kind != rendezvous::DirectiveKind::kRun ||
          sent.directive.place.round != step.status.round) {
        continue;
      }
      auto work = work_.find(sent.to.slot);
      if (work == work_.end() ||
          work->second.incarnation != sent.to.incarnation ||
          sent.directive.epoch < promised_[sent.to.incarnation]) {
        continue;
      }
      Fail(absl::StrCat("round ", sent.directive.place.round, " begins while n",
                        sent.to.slot, " still has workers of round ",
                        work->second.round));
    }
  }

  void OnAgentStepped(AgentName agent, const agent::LifecycleStep& step,
                      std::optional<Instant>) override {
    if (!plan().takeover || !step.report.has_value()) return;
    promised_[agent.incarnation] = step.report->promised_epoch;
  }
  void OnWorkersStarted(AgentName agent, uint64_t epoch,
                        const rendezvous::Place& place) override {
    work_[agent.slot] = {agent.incarnation, place.round};
    for (int i = 0; i < plan().workers; ++i) {
      const auto key = std::tuple(epoch, place.round, place.first_rank + i);
      const auto [owner, first] =
          owners_.emplace(key, std::pair(agent.slot, agent.incarnation));
      if (!first) {
        Fail(absl::StrCat("rank ", place.first_rank + i, " of round ",
                          place.round, " is started by n", agent.slot,
                          " and was by n", owner->second.first));
      }
    }
  }
  void OnWorkersGone(AgentName agent, uint64_t, int) override {
    work_.erase(agent.slot);
  }

 private:
  struct Work {
    uint64_t incarnation;
    int round;
  };
  // The epoch that each agent has promised to obey, by the agent's incarnation.
  // Recorded only in plans with takeovers; otherwise every epoch is 0.
  std::map<uint64_t, uint64_t> promised_;
  // Key: a node's slot (its number in the simulation). Value: the agent and the
  // round whose worker processes may still run on the node.
  std::map<int, Work> work_;
  std::map<std::tuple<uint64_t, int, int>, std::pair<int, uint64_t>> owners_;
};

}  // namespace

std::unique_ptr<Checker> NewOwnerChecker(const Plan& plan) {
  return std::make_unique<OwnerChecker>(plan);
}

}  // namespace muster::simulation
