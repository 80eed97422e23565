#include <algorithm>
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
        // Use the round of the directive. The job's status may already be in
        // the next round, because one step can send directives of a round and
        // then begin the next.
        members_[sent.directive.place.round].insert(
            absl::StrCat("n", sent.to.slot));
      }
      if (sent.directive.kind == rendezvous::DirectiveKind::kFinished) {
        CheckTold(sent.directive.verdict);
        CheckPart(step, sent);
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
    uint64_t& newest = ran_in_[agent.slot];
    newest = std::max(newest, agent.incarnation);
  }
  void OnAgentStepped(AgentName agent, const agent::LifecycleStep& step,
                      std::optional<Instant>) override {
    if (!step.leave.has_value() || !step.leave->verdict.has_value()) return;
    const bool may_be_spare =
        step.leave->verdict->outcome == rendezvous::Outcome::kSucceeded &&
        !ran_.contains(agent.incarnation);
    const bool is_spare = step.leave->never_ran;
    if (is_spare && !may_be_spare) {
      Fail(absl::StrCat("n", agent.slot, " says that it never ran"));
    } else if (!is_spare && may_be_spare && !MayHaveRun(agent.slot)) {
      Fail(absl::StrCat("n", agent.slot, " never ran and does not say so"));
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
    // The verdict of a failed job must name a cause. Exception: a coordinator
    // that continues the job without a record (has_adopted_) may never have got
    // a report of the failed node.
    if (verdict.outcome == rendezvous::Outcome::kFailed &&
        !verdict.cause.has_value() && !has_adopted_) {
      Fail("a failure without a cause");
    }
  }

  // Whether a node may have taken part in a successful job although its agent
  // has started no workers. Either an earlier agent of the node has started
  // workers. Or the coordinator may have read the job's success from its
  // journal.
  bool MayHaveRun(int slot) const {
    return ran_in_.contains(slot) || plan().host_journal;
  }
  // Checks a directive that ends a successful job: its flag took_part must tell
  // the node whether it has taken part in the job. Ignores other directives.
  void CheckPart(const CoordinatorStepped& step, const Sent& sent) {
    if (sent.directive.verdict.outcome != rendezvous::Outcome::kSucceeded) {
      return;
    }
    const int slot = sent.to.slot;
    const bool took_part = sent.directive.took_part;
    if (took_part && !ran_in_.contains(slot) && step.recalled_round == 0) {
      Fail(absl::StrCat("n", slot, " has run no workers, and took part"));
    }
    // An agent that waits for the place of another agent is not yet a node of
    // the job.
    const bool is_node = std::ranges::any_of(
        step.status.nodes, [&sent](const rendezvous::NodeStatus& node) {
          return node.node.incarnation == sent.to.incarnation;
        });
    const bool was_member =
        members_[step.status.round].contains(absl::StrCat("n", slot));
    // An agent that has started workers knows by itself that it took part in
    // the job. An agent that was started later on the same node does not, and
    // must be told so by took_part.
    if (!took_part && is_node && was_member &&
        sent.to.incarnation > ran_in_[slot]) {
      Fail(absl::StrCat("n", slot, " had a place, and took no part"));
    }
  }

  // whether the coordinator that this checker observes continues a job of which
  // it has no record
  bool has_adopted_ = false;
  std::optional<rendezvous::Verdict> verdict_;
  // node ids of the members, by round
  std::map<int, std::set<std::string>> members_;
  std::set<std::pair<std::string, int>> succeeded_;
  std::set<uint64_t> ran_;  // agents that have started workers, by incarnation
  // key: a node's slot (its number in the simulation); value: the incarnation
  // of the newest agent of this node that has started workers
  std::map<int, uint64_t> ran_in_;
};

}  // namespace

std::unique_ptr<Checker> NewVerdictChecker(const Plan& plan) {
  return std::make_unique<VerdictChecker>(plan);
}

}  // namespace muster::simulation
