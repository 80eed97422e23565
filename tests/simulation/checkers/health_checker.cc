#include <algorithm>
#include <map>
#include <optional>

#include "absl/strings/str_cat.h"
#include "tests/simulation/checkers/checkers.h"

namespace muster::simulation {
namespace {

// Checks that each node of a new round was healthy in the newest report that
// the coordinator received from the node's agent.
class HealthChecker : public Checker {
 public:
  explicit HealthChecker(const Plan& plan) : Checker(plan, "health") {}

  void OnReport(AgentName from, rendezvous::StreamId,
                const rendezvous::Report& report) override {
    Said& said = said_[from.incarnation];
    if (report.sequence <= said.sequence) return;
    said = {report.sequence, report.health};
  }
  void OnStep(const CoordinatorStepped& step) override {
    const bool began = std::any_of(step.decisions.begin(), step.decisions.end(),
                                   [](const rendezvous::Decision& decision) {
                                     return decision.kind == "assign";
                                   });
    if (!began) return;
    CheckFaults(step);
    for (const rendezvous::NodeStatus& node : step.status.nodes) {
      if (!node.group_rank.has_value()) continue;
      const auto found = said_.find(node.node.incarnation);
      if (found != said_.end() &&
          found->second.health == rendezvous::Health::kHealthy) {
        continue;
      }
      Fail(absl::StrCat("round ", step.status.round, " begins with ",
                        node.node.node_id, ", which is not known to be fit"));
    }
  }

 private:
  // Fails if a member was found bad by the network check although the world has
  // min_nodes good members. Does not check plans with takeovers: there, a bad
  // node may be needed for a majority of the nodes.
  void CheckFaults(const CoordinatorStepped& step) {
    if (plan().takeover) return;
    int good = 0;
    std::string bad;
    for (const rendezvous::NodeStatus& node : step.status.nodes) {
      if (!node.group_rank.has_value()) continue;
      const bool is_bad = node.health == rendezvous::Health::kUnhealthy;
      good += is_bad ? 0 : 1;
      if (is_bad) bad = node.node.node_id;
    }
    if (bad.empty() || good < plan().spec.min_nodes) return;
    Fail(absl::StrCat("round ", step.status.round, " begins with ", bad,
                      ", which is bad, although ", good, " others are enough"));
  }

  struct Said {
    uint64_t sequence = 0;
    rendezvous::Health health = rendezvous::Health::kHealthy;
  };
  std::map<uint64_t, Said> said_;  // newest report, by incarnation of the agent
};

// Checks that the nodes are checked by pairs after the coordinator has noted an
// error of a GPU, before the next round begins. Exceptions: a world of one
// node, and a gathering that has reached its time limit.
class SuspicionChecker : public Checker {
 public:
  explicit SuspicionChecker(const Plan& plan) : Checker(plan, "suspicion") {}

  void OnCoordinatorStarted(uint64_t /*epoch*/) override { Forget(); }
  void OnStep(const CoordinatorStepped& step) override {
    bool began = false;
    for (const rendezvous::Decision& decision : step.decisions) {
      is_suspicious_ = is_suspicious_ || decision.kind == "fault";
      is_checked_ = is_checked_ || decision.kind == "check";
      began = began || decision.kind == "assign";
    }
    if (began) {
      const auto members =
          std::count_if(step.status.nodes.begin(), step.status.nodes.end(),
                        [](const rendezvous::NodeStatus& node) {
                          return node.group_rank.has_value();
                        });
      const Duration gathered = now() - gathers_since_.value_or(now());
      const Duration limit = plan().Shortest(
          std::min(plan().spec.join_timeout, plan().spec.rejoin_timeout));
      if (is_suspicious_ && !is_checked_ && members > 1 && gathered < limit) {
        Fail(absl::StrCat("round ", step.status.round,
                          " begins without a check by pairs, although a GPU "
                          "has failed"));
      }
      Forget();
    }
    gathers_since_.reset();
    if (step.status.phase == rendezvous::JobPhase::kGathering) {
      gathers_since_ = now() - step.status.phase_age;
    }
  }

 private:
  void Forget() { is_suspicious_ = is_checked_ = false; }

  bool is_suspicious_ = false;  // an error since the last round began
  bool is_checked_ = false;     // a check since the last round began
  std::optional<Instant> gathers_since_;
};

}  // namespace

std::unique_ptr<Checker> NewHealthChecker(const Plan& plan) {
  return std::make_unique<HealthChecker>(plan);
}

std::unique_ptr<Checker> NewSuspicionChecker(const Plan& plan) {
  return std::make_unique<SuspicionChecker>(plan);
}

}  // namespace muster::simulation
