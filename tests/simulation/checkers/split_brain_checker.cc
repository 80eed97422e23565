#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tests/simulation/checkers/checkers.h"

namespace muster::simulation {
namespace {

using rendezvous::WorldId;

// Checks two rules:
// * Two worlds never run on all of their nodes at the same time. Without
//   takeovers, two worlds of one coordinator may.
// * No world of an older coordinator begins on all of its nodes after a world
//   of a newer coordinator has run on all of its own nodes. This holds while a
//   majority of the newer world's agents is alive.
//
// The second rule has an exception with JobSpec::RestartedAgentsElect. The
// older world may begin if the agent of one of its nodes was restarted. The
// earlier agent ran workers for the newer coordinator; the restarted agent does
// not know of that coordinator.
class SplitBrainChecker : public Checker {
 public:
  explicit SplitBrainChecker(const Plan& plan) : Checker(plan, "split brain") {}

  void OnWorkersStarted(AgentName agent, uint64_t epoch,
                        const rendezvous::Place& place) override {
    const WorldId id = {.epoch = epoch, .round = place.round};
    World& world = worlds_[id];
    world.nodes = place.group_world_size;
    world.running[place.group_rank] = agent.incarnation;
    Obeyed& obeyed = obeyed_[agent.slot];
    if (obeyed.epoch <= epoch) {
      obeyed = {.epoch = epoch, .incarnation = agent.incarnation};
    } else if (obeyed.incarnation != agent.incarnation &&
               plan().spec.RestartedAgentsElect()) {
      world.has_forgotten = true;
    }
    if (!world.IsComplete()) return;
    for (const auto& [other, state] : worlds_) {
      // Without takeovers, a coordinator may start a new world while lost nodes
      // still run the old one. Lost nodes stop once a message of the
      // coordinator reaches them.
      const bool may_run_both = !plan().takeover && other.epoch == id.epoch;
      if (other != id && !may_run_both && state.IsComplete()) {
        Fail(absl::StrCat(Named(id), " and ", Named(other),
                          " run on all of their nodes"));
      }
    }
    const bool is_newer = newest_.epoch <= id.epoch || !MajorityLives(newest_);
    if (!is_newer && !world.has_forgotten) {
      Fail(absl::StrCat(Named(id), " begins on all of its nodes after ",
                        Named(newest_)));
    }
    if (is_newer || world.has_forgotten) {
      newest_ = id;
      witnesses_.clear();
      for (const auto& [rank, incarnation] : world.running) {
        witnesses_.insert(incarnation);
      }
    }
  }
  void OnWorkersGone(AgentName agent, uint64_t epoch, int round) override {
    const auto found = worlds_.find({.epoch = epoch, .round = round});
    if (found != worlds_.end()) Remove(agent, found->second);
  }
  void OnAgentEnded(AgentName agent) override {
    for (auto& [id, world] : worlds_) Remove(agent, world);
    witnesses_.erase(agent.incarnation);
  }

 private:
  struct World {
    int nodes = 0;
    // incarnations of the agents whose workers run, by group rank
    std::map<int, uint64_t> running;
    // Whether one of the world's nodes ran for a newer coordinator before its
    // agent was restarted. The new agent does not know of that coordinator.
    bool has_forgotten = false;
    bool IsComplete() const {
      return nodes > 0 && static_cast<int>(running.size()) == nodes;
    }
  };
  // Whether a majority of the nodes of the world `id` is alive and knows the
  // world. A restarted agent does not know the world.
  bool MajorityLives(WorldId id) const {
    if (!worlds_.contains(id)) return false;
    return 2 * static_cast<int>(witnesses_.size()) > worlds_.at(id).nodes;
  }
  static void Remove(AgentName agent, World& world) {
    std::erase_if(world.running, [&](const auto& one) {
      return one.second == agent.incarnation;
    });
  }
  static std::string Named(WorldId id) {
    return absl::StrCat("round ", id.round, " of epoch ", id.epoch);
  }

  // A node's newest work: the epoch of the coordinator that ordered it, and the
  // incarnation of the agent that ran the workers.
  struct Obeyed {
    uint64_t epoch = 0;
    uint64_t incarnation = 0;
  };

  std::map<WorldId, World> worlds_;
  // key: the node's slot (its number in the simulation)
  std::map<int, Obeyed> obeyed_;
  WorldId newest_;  // the newest world that has run on all of its nodes
  // incarnations of the living agents that have run workers of the world
  // `newest_`
  std::set<uint64_t> witnesses_;
};

}  // namespace

std::unique_ptr<Checker> NewSplitBrainChecker(const Plan& plan) {
  return std::make_unique<SplitBrainChecker>(plan);
}

}  // namespace muster::simulation
