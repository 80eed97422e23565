#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tests/simulation/checkers/checkers.h"

namespace muster::simulation {
namespace {

using rendezvous::WorldId;

class SplitBrainChecker : public Checker {
 public:
  explicit SplitBrainChecker(const Plan& plan) : Checker(plan, "split brain") {}

  void OnWorkersStarted(AgentName agent, uint64_t epoch,
                        const rendezvous::Place& place) override {
    const WorldId id = {.epoch = epoch, .round = place.round};
    World& world = worlds_[id];
    world.nodes = place.group_world_size;
    world.running[place.group_rank] = agent.incarnation;
    if (!world.IsComplete()) return;
    for (const auto& [other, state] : worlds_) {
      if (other != id && state.IsComplete()) {
        Fail(absl::StrCat(Named(id), " and ", Named(other),
                          " run on all of their nodes"));
      }
    }
    if (id.epoch < newest_.epoch) {
      Fail(absl::StrCat(Named(id), " begins on all of its nodes after ",
                        Named(newest_)));
    }
    newest_ = std::max(newest_, id);
  }
  void OnWorkersGone(AgentName agent, uint64_t epoch, int round) override {
    const auto found = worlds_.find({.epoch = epoch, .round = round});
    if (found != worlds_.end()) Remove(agent, found->second);
  }
  void OnAgentEnded(AgentName agent) override {
    for (auto& [id, world] : worlds_) Remove(agent, world);
  }

 private:
  struct World {
    int nodes = 0;
    // incarnations of the agents with workers, by group rank
    std::map<int, uint64_t> running;
    bool IsComplete() const {
      return nodes > 0 && static_cast<int>(running.size()) == nodes;
    }
  };
  static void Remove(AgentName agent, World& world) {
    std::erase_if(world.running, [&](const auto& one) {
      return one.second == agent.incarnation;
    });
  }
  static std::string Named(WorldId id) {
    return absl::StrCat("round ", id.round, " of epoch ", id.epoch);
  }

  std::map<WorldId, World> worlds_;
  WorldId newest_;  // the newest world that has run on all of its nodes
};

}  // namespace

std::unique_ptr<Checker> NewSplitBrainChecker(const Plan& plan) {
  return std::make_unique<SplitBrainChecker>(plan);
}

}  // namespace muster::simulation
