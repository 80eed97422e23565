#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tests/simulation/checkers/checkers.h"

namespace muster::simulation {
namespace {

class VerdictChecker : public Checker {
 public:
  explicit VerdictChecker(const Plan& plan) : Checker(plan, "verdict") {}

  void OnCoordinatorStarted(uint64_t) override {
    verdict_.reset();
    members_.clear();
    succeeded_.clear();
    has_adopted_ = false;
  }
  void OnReport(AgentName, rendezvous::StreamId,
                const rendezvous::Report& report) override {
    if (report.phase == rendezvous::NodePhase::kSucceeded) {
      succeeded_.insert({report.node.node_id, report.round});
    }
  }
  void OnStep(const CoordinatorStepped& step) override {
    for (const rendezvous::Decision& decision : step.decisions) {
      has_adopted_ = has_adopted_ || decision.kind == "adopt";
    }
    for (const Sent& sent : step.sent) {
      if (sent.directive.kind == rendezvous::DirectiveKind::kRun) {
        // The job's status may already be in the next round, because one step
        // can send directives of a round and then begin the next.
        members_[sent.directive.place.round].insert(
            absl::StrCat("n", sent.to.slot));
      }
      if (sent.directive.kind == rendezvous::DirectiveKind::kFinished) {
        CheckTold(sent.directive.verdict);
      }
    }
    const std::optional<rendezvous::Verdict>& verdict = step.status.verdict;
    if (!verdict.has_value() ||
        verdict->outcome != rendezvous::Outcome::kSucceeded)
      return;
    for (const std::string& id : members_[step.status.round]) {
      if (!succeeded_.contains({id, step.status.round})) {
        Fail(id + " has not succeeded, but the job has");
      }
    }
  }
  void OnWorkersStarted(AgentName agent, uint64_t,
                        const rendezvous::Place&) override {
    ran_.insert(agent.incarnation);
  }
  void OnAgentStepped(AgentName agent, const agent::LifecycleStep& step,
                      std::optional<Instant>) override {
    if (!step.leave.has_value() || !step.leave->verdict.has_value()) return;
    const bool is_spare =
        step.leave->verdict->outcome == rendezvous::Outcome::kSucceeded &&
        !ran_.contains(agent.incarnation);
    if (step.leave->never_ran != is_spare) {
      Fail(absl::StrCat("n", agent.slot,
                        is_spare ? " never ran and does not say so"
                                 : " says that it never ran"));
    } else if (is_spare) {
      if (step.leave->exit_code == 0) {
        Fail(absl::StrCat("n", agent.slot, " never ran and reports success"));
      }
    } else if (step.leave->exit_code != step.leave->verdict->exit_code) {
      Fail(absl::StrCat("n", agent.slot, " exits with ", step.leave->exit_code,
                        ", the verdict says ", step.leave->verdict->exit_code));
    }
  }

 private:
  void CheckTold(const rendezvous::Verdict& verdict) {
    if (!verdict_.has_value()) verdict_ = verdict;
    if (verdict.outcome != verdict_->outcome ||
        verdict.exit_code != verdict_->exit_code ||
        verdict.reason != verdict_->reason ||
        verdict.cause.has_value() != verdict_->cause.has_value()) {
      Fail("two verdicts: " + verdict_->reason + " and " + verdict.reason);
    }
    if ((verdict.exit_code == 0) !=
        (verdict.outcome == rendezvous::Outcome::kSucceeded)) {
      Fail("the exit code contradicts the outcome");
    }
    // If this coordinator continues the job without a record, a failure may
    // have no cause. The failed node may not have reported to this coordinator.
    if (verdict.outcome == rendezvous::Outcome::kFailed &&
        !verdict.cause.has_value() && !has_adopted_) {
      Fail("a failure without a cause");
    }
  }

  // whether this coordinator continues a job without a record of it
  bool has_adopted_ = false;
  std::optional<rendezvous::Verdict> verdict_;
  // node ids of the members, by round
  std::map<int, std::set<std::string>> members_;
  std::set<std::pair<std::string, int>> succeeded_;
  std::set<uint64_t> ran_;  // agents that have started workers, by incarnation
};

}  // namespace

std::unique_ptr<Checker> NewVerdictChecker(const Plan& plan) {
  return std::make_unique<VerdictChecker>(plan);
}

}  // namespace muster::simulation
