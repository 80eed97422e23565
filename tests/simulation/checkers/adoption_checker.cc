#include <algorithm>
#include <cstdio>
#include <map>

#include "absl/strings/str_cat.h"
#include "tests/simulation/checkers/checkers.h"

namespace muster::simulation {
namespace {

class AdoptionChecker : public Checker {
 public:
  explicit AdoptionChecker(const Plan& plan) : Checker(plan, "adoption") {}

  void OnCoordinatorStarted(uint64_t) override {
    started_ = now();
    come_.clear();
  }
  void OnReport(AgentName from, rendezvous::StreamId,
                const rendezvous::Report& report) override {
    Come& come = come_[from.incarnation];
    if (report.sequence <= come.sequence) return;
    come = {.sequence = report.sequence};
    if (!report.place.has_value()) return;
    come.world = {.epoch = report.place->epoch, .round = report.place->round};
    come.nodes = report.place->group_world_size;
  }
  void OnStep(const CoordinatorStepped& step) override {
    for (const rendezvous::Decision& decision : step.decisions) {
      if (decision.kind != "adopt") continue;
      int round = 0;
      int counted = 0;
      std::sscanf(decision.reason.c_str(), "round %d ", &round);
      if (decision.reason.find(" goes on: ") != std::string::npos) {
        std::sscanf(decision.reason.c_str(), "round %d goes on: %d", &round,
                    &counted);
        Count(round, counted, step.status);
        continue;
      }
      // With takeover=auto a job has at most max_nodes agents. Once that many
      // have reported, no other node can join. The coordinator then need not
      // wait for the whole lease.
      const bool all_are_here =
          plan().takeover &&
          plan().spec.takeover == rendezvous::Takeover::kAuto &&
          static_cast<int>(come_.size()) >= plan().spec.max_nodes;
      if (now() < started_ + plan().spec.lease() && !all_are_here) {
        Fail(absl::StrCat("round ", round, " is given up too early"));
      }
    }
  }

 private:
  struct Come {
    uint64_t sequence = 0;
    rendezvous::WorldId world;
    int nodes = 0;  // number of nodes of the world
  };
  struct World {
    int come = 0;
    int nodes = 0;
  };

  // Checks the decision to continue `round` after reports from `counted` of its
  // nodes. They must be a majority of the nodes of the newest world that any
  // node has reported. With takeovers an older world is allowed, too, because
  // newer worlds may be void (rendezvous::IsVoid).
  void Count(int round, int counted, const rendezvous::JobStatus& status) {
    std::map<rendezvous::WorldId, World> worlds;
    for (const rendezvous::NodeStatus& node : status.nodes) {
      const Come& come = come_[node.node.incarnation];
      if (come.nodes == 0) continue;
      World& world = worlds[come.world];
      ++world.come;
      world.nodes = come.nodes;
    }
    const bool is_sound = std::ranges::any_of(worlds, [&](const auto& one) {
      const bool is_newest = one.first == worlds.rbegin()->first;
      return one.first.round == round && (is_newest || plan().takeover) &&
             counted <= one.second.come && 2 * counted > one.second.nodes;
    });
    if (!is_sound) {
      Fail(absl::StrCat("round ", round, " goes on with ", counted,
                        ", no majority of the newest world"));
    }
  }

  Instant started_;
  // newest report of each agent, by incarnation
  std::map<uint64_t, Come> come_;
};

}  // namespace

std::unique_ptr<Checker> NewAdoptionChecker(const Plan& plan) {
  return std::make_unique<AdoptionChecker>(plan);
}

}  // namespace muster::simulation
