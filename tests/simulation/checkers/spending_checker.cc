#include <algorithm>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "tests/simulation/checkers/checkers.h"

namespace muster::simulation {
namespace {

using rendezvous::WorldId;

class SpendingChecker : public Checker {
 public:
  explicit SpendingChecker(const Plan& plan) : Checker(plan, "spending") {}

  void OnWorkerFailed(AgentName, uint64_t epoch, int round,
                      const rendezvous::Failure&) override {
    failed_.insert({.epoch = epoch, .round = round});
  }
  void OnWorkerHung(AgentName, uint64_t epoch, int round, int, int) override {
    failed_.insert({.epoch = epoch, .round = round});
  }
  void OnWorkersStarted(AgentName agent, uint64_t epoch,
                        const rendezvous::Place& place) override {
    const WorldId id = {.epoch = epoch, .round = place.round};
    if (place.restart_count > plan().spec.max_restarts) {
      Fail(absl::StrCat("restart ", place.restart_count, " of ",
                        plan().spec.max_restarts));
    }
    const bool is_known = IsKnown();
    // Ignore a world that is older than `newest_`, the newest world that has
    // begun on all of its nodes. Do so only while every coordinator that can be
    // elected learns how many restarts are used (`is_known`).
    if (id < newest_ && is_known) return;
    if (place.restart_count < spent_ && is_known) {
      Fail(absl::StrCat("restart ", place.restart_count, " in round ",
                        place.round, " after ", spent_));
    }
    if (place.restart_count > static_cast<int>(failed_.size())) {
      Fail(absl::StrCat(place.restart_count, " restarts after ", failed_.size(),
                        " rounds with a failure"));
    }
    std::set<uint64_t>& started = started_[id];
    started.insert(agent.incarnation);
    if (static_cast<int>(started.size()) < place.group_world_size) return;
    newest_ = id;
    newest_nodes_ = place.group_world_size;
    witnesses_ = started;
    for (const uint64_t ended : ended_) witnesses_.erase(ended);
    spent_ = place.restart_count;
  }
  void OnAgentEnded(AgentName agent) override {
    witnesses_.erase(agent.incarnation);
    ended_.insert(agent.incarnation);
  }

 private:
  // Whether every coordinator that can be elected learns the number of used
  // restarts from one of the agents that elect it. A restarted agent does not
  // know this number.
  bool IsKnown() const {
    // With etcd, every coordinator reads this number from the record.
    if (plan().etcd()) return true;
    const rendezvous::JobSpec& spec = plan().spec;
    const int witnesses = static_cast<int>(witnesses_.size());
    const bool count_suffices = plan().takeover &&
                                spec.takeover == rendezvous::Takeover::kAuto &&
                                2 * spec.min_nodes > spec.max_nodes;
    if (count_suffices && witnesses <= spec.max_nodes - spec.min_nodes) {
      // With Takeover::kAuto, min_nodes agents suffice to elect a coordinator.
      // Up to max_nodes agents may run, and only `witnesses` of them know the
      // number of used restarts. The others are at least min_nodes agents, so
      // they may elect a coordinator that does not learn this number.
      return false;
    }
    return 2 * witnesses > newest_nodes_;
  }

  std::set<WorldId> failed_;  // worlds in which a worker failed or hung
  // agents that have started workers of a world, by world
  std::map<WorldId, std::set<uint64_t>> started_;
  WorldId newest_;  // the newest world that all of its nodes have started
  int newest_nodes_ = 0;
  // incarnations of the living agents that have started workers of the world
  // `newest_`
  std::set<uint64_t> witnesses_;
  std::set<uint64_t> ended_;  // agents that have ended
  // restarts that were used up before the world `newest_` formed
  int spent_ = 0;
};

}  // namespace

std::unique_ptr<Checker> NewSpendingChecker(const Plan& plan) {
  return std::make_unique<SpendingChecker>(plan);
}

}  // namespace muster::simulation
