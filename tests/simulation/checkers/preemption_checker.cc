#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <variant>

#include "absl/strings/str_cat.h"
#include "tests/simulation/checkers/checkers.h"

namespace muster::simulation {
namespace {

using std::chrono::seconds;

// Time after the grace period for which a preempted job waits for members that
// have not stopped. The job then ends.
constexpr Duration kStopMargin = seconds(5);
// Longest time after the grace period for which a node waits for the
// coordinator's order to stop.
constexpr Duration kOrderTimeout = seconds(5);
// How long killed workers may take to end. Child processes that they leave
// behind may take up to nine seconds to die of SIGKILL.
constexpr Duration kDying = seconds(10);

class PreemptionChecker : public Checker {
 public:
  explicit PreemptionChecker(const Plan& plan) : Checker(plan, "preemption") {}

  void OnCoordinatorStarted(uint64_t epoch) override {
    epoch_ = epoch;
    known_since_.reset();
    awaits_nodes_until_ = {};
    ended_ = false;
  }
  // While the coordinator is down, nobody can end the job, so the time limit of
  // a preemption does not run. A new coordinator reads the preemption from the
  // record of the job, and then waits one lease for the nodes' reports. Without
  // a record, it learns of the preemption from these reports.
  void OnCoordinatorCrashed() override {
    recorded_ = known_since_.has_value();
    known_since_.reset();
  }
  void OnCoordinatorContinued() override {
    awaits_nodes_until_ = now() + plan().spec.lease();
    if (recorded_) known_since_ = awaits_nodes_until_;
  }
  void OnCoordinatorPaused() override { OnCoordinatorCrashed(); }
  void OnCoordinatorResumed() override {
    if (recorded_) known_since_ = now();
  }
  // A newer coordinator has taken over, learns of the preemption from the
  // nodes, and ends the job. So no time limit holds any longer for the
  // coordinator that this checker observes.
  void OnOtherStep(const CoordinatorStepped& step) override {
    if (step.epoch > epoch_) known_since_.reset();
  }
  void OnStep(const CoordinatorStepped& step) override {
    for (const rendezvous::Decision& decision : step.decisions) {
      if (decision.kind == "preempt") {
        known_since_ = std::max(now(), awaits_nodes_until_);
      }
      if (decision.kind == "assign" && known_since_.has_value()) {
        Fail("a round begins after the notice: " + decision.reason);
      }
    }
    ended_ = step.status.phase == rendezvous::JobPhase::kFinished;
    if (!known_since_.has_value() || !ended_) return;
    const rendezvous::Verdict& verdict = *step.status.verdict;
    // A job must not succeed after a preemption notice. Exception: with
    // takeovers, a coordinator makes success known to a majority of nodes
    // before it reports success, and a notice that arrives meanwhile does not
    // change the verdict.
    if (verdict.outcome == rendezvous::Outcome::kSucceeded &&
        !plan().takeover) {
      Fail("a job that was preempted succeeds");
    }
    if ((verdict.outcome == rendezvous::Outcome::kPreempted) !=
        (verdict.exit_code == rendezvous::kPreemptedExitCode)) {
      Fail(absl::StrCat("exit code ", verdict.exit_code));
    }
  }
  void OnTick() override {
    CheckNodes();
    if (!known_since_.has_value() || ended_) return;
    const rendezvous::JobSpec& spec = plan().spec;
    const Duration limit = spec.preempt_grace + spec.shutdown_timeout +
                           kStopMargin + seconds(1) +
                           // With takeovers, a coordinator needs up to one
                           // lease to make the end of the job known to a
                           // majority of nodes.
                           (plan().takeover ? spec.lease() : Duration::zero());
    if (now() > *known_since_ + limit) {
      Fail(absl::StrCat("the job has not ended ",
                        ToSeconds(now() - *known_since_), " s after it"));
      known_since_.reset();
    }
  }
  void OnAgentEnded(AgentName agent) override {
    must_leave_.erase(agent.incarnation);
    paused_.erase(agent.incarnation);
  }
  void OnAgentPaused(AgentName agent) override {
    paused_.insert(agent.incarnation);
  }
  void OnAgentResumed(AgentName agent) override {
    paused_.erase(agent.incarnation);
    const auto found = must_leave_.find(agent.incarnation);
    if (found == must_leave_.end()) return;
    found->second.by =
        std::max(found->second.by,
                 now() + plan().spec.shutdown_timeout + kDying + kStopMargin);
  }
  void OnAgentStepped(AgentName agent, const agent::LifecycleStep& step,
                      std::optional<Instant>) override {
    for (const auto& action : step.actions) {
      if (std::holds_alternative<agent::AnnouncePreemption>(action)) {
        if (!told_.insert(agent.incarnation).second) {
          Fail(absl::StrCat("n", agent.slot, " announces it twice"));
        }
        const rendezvous::JobSpec& spec = plan().spec;
        must_leave_[agent.incarnation] = {
            .slot = agent.slot,
            .by = now() + spec.preempt_grace + spec.shutdown_timeout +
                  kStopMargin + kOrderTimeout + kDying};
      } else if (std::holds_alternative<agent::StartWorkers>(action) &&
                 told_.contains(agent.incarnation)) {
        Fail(absl::StrCat("n", agent.slot, " starts workers after the notice"));
      }
    }
  }

 private:
  struct Departure {
    int slot = 0;
    Instant by;
  };

  // A node that knows of the preemption must leave in time, even without a
  // coordinator. Otherwise the cluster would kill it.
  void CheckNodes() {
    for (const auto& [incarnation, departure] : must_leave_) {
      if (paused_.contains(incarnation) || now() <= departure.by) continue;
      Fail(absl::StrCat("n", departure.slot,
                        " knows of it, and is still there"));
    }
  }

  // time at which the coordinator that this checker observes learned of the
  // preemption, which starts the time limit for the end of the job; nullopt: no
  // time limit runs
  std::optional<Instant> known_since_;
  // If the coordinator that this checker observes has continued a job from a
  // record: the time until which it waits for reports of the recorded nodes
  // before it counts the time for a stop.
  Instant awaits_nodes_until_;
  uint64_t epoch_ = 0;
  // whether the coordinator that this checker observes knew of the preemption
  // when it last crashed or was suspended
  bool recorded_ = false;
  bool ended_ = false;
  // agents that know of the preemption, by incarnation
  std::set<uint64_t> told_;
  // Key: the incarnation of an agent that knows of the preemption. Value: the
  // time by which this agent must leave.
  std::map<uint64_t, Departure> must_leave_;
  std::set<uint64_t> paused_;  // suspended agents, by incarnation
};

}  // namespace

std::unique_ptr<Checker> NewPreemptionChecker(const Plan& plan) {
  return std::make_unique<PreemptionChecker>(plan);
}

}  // namespace muster::simulation
