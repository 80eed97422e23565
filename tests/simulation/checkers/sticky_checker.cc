#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/simulation/checkers/checkers.h"

namespace muster::simulation {
namespace {

class StickyChecker : public Checker {
 public:
  explicit StickyChecker(const Plan& plan) : Checker(plan, "sticky ranks") {}

  void OnCoordinatorStarted(uint64_t) override {
    worlds_.clear();
    settled_ = last_ = rendezvous::WorldId();
  }
  void OnStep(const CoordinatorStepped& step) override {
    for (const Sent& sent : step.sent) NoteSettled(sent.directive.electorate);
    bool assigned = false;
    for (const rendezvous::Decision& decision : step.decisions) {
      assigned = assigned || decision.kind == "assign";
    }
    if (!assigned) return;
    std::map<std::string, int> ranks;
    std::map<int, const rendezvous::NodeIdentity*> holders;
    for (const rendezvous::NodeStatus& node : step.status.nodes) {
      if (!node.group_rank.has_value()) continue;
      ranks[node.node.node_id] = *node.group_rank;
      holders[*node.group_rank] = &node.node;
    }
    for (const auto& [id, before] : worlds_[last_]) {
      const auto after = ranks.find(id);
      if (after == ranks.end() || after->second == before) continue;
      const auto holder = holders.find(before);
      // skip a rank that the new, smaller world does not have
      if (holder == holders.end()) continue;
      // A member may lose its rank in two cases: another node has this rank as
      // its explicit node rank, or the member itself has an explicit node rank.
      const bool claimed = holder->second->node_rank == before ||
                           holders[after->second]->node_rank == after->second;
      if (!claimed) {
        Fail(absl::StrCat(id, " moved from ", before, " to ", after->second));
      }
    }
    const rendezvous::WorldId formed = {.epoch = step.epoch,
                                        .round = step.status.round};
    worlds_[formed] = ranks;
    // Without takeovers, the nodes must keep their ranks of this new world.
    // With takeovers, they must keep them only once all nodes of the world have
    // started it (NoteSettled).
    if (!plan().takeover) last_ = formed;
  }

 private:
  void NoteSettled(const rendezvous::Electorate& electorate) {
    if (electorate.nodes == 0 || electorate.world < settled_) return;
    settled_ = last_ = electorate.world;
  }

  // group ranks by node id, for each world of this coordinator
  std::map<rendezvous::WorldId, std::map<std::string, int>> worlds_;
  rendezvous::WorldId settled_;  // newest world that all its nodes have started
  rendezvous::WorldId last_;     // world whose group ranks the nodes must keep
};

}  // namespace

std::unique_ptr<Checker> NewStickyChecker(const Plan& plan) {
  return std::make_unique<StickyChecker>(plan);
}

}  // namespace muster::simulation
