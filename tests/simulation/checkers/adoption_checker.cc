#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

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
    gave_up_over_ = false;
  }
  void OnReport(AgentName from, rendezvous::StreamId,
                const rendezvous::Report& report) override {
    const bool is_fresh = report.promised_epoch == 0;
    Come& come = come_.try_emplace(from.incarnation, Come{.is_fresh = is_fresh})
                     .first->second;
    if (report.sequence <= come.sequence) return;
    come = {.is_fresh = come.is_fresh,
            .sequence = report.sequence,
            .job_age = std::max(come.job_age, report.job_age),
            .elects = report.electorate.world,
            .node_id = report.node.node_id,
            .electors = report.electorate.members,
            .followed = report.electorate.epoch};
    if (!report.place.has_value()) return;
    come.world = {.epoch = report.place->epoch, .round = report.place->round};
    come.nodes = report.place->group_world_size;
    come.members = report.place->members;
    if (!report.round_end.has_value()) return;
    come.end = *report.round_end;
  }
  void OnStep(const CoordinatorStepped& step) override {
    for (const rendezvous::Decision& decision : step.decisions) {
      if (decision.kind == "assign" && gave_up_over_ &&
          JobIsOver(step.status)) {
        Fail("a round begins, but a node knows that the job is over");
      }
      if (decision.kind == "assign" && IsCancelled(step.status)) {
        Fail("a round begins, but a node knows that the job is cancelled");
      }
      if (decision.kind != "adopt") continue;
      int round = 0;
      int counted = 0;
      std::sscanf(decision.reason.c_str(), "round %d ", &round);
      if (decision.reason.find(" goes on: ") != std::string::npos) {
        std::sscanf(decision.reason.c_str(), "round %d goes on: %d", &round,
                    &counted);
        Count(round, counted, step.status);
        if (IsAfterTheElectorate(round) && !IsWhole(round, step.status)) {
          Fail(absl::StrCat("round ", round,
                            " goes on, but may not have begun on all nodes"));
        }
        CheckAge(step.status);
        continue;
      }
      if (now() < started_ + plan().spec.lease() && !AllAreHere() &&
          !IsAfterTheElectorate(round)) {
        Fail(absl::StrCat("round ", round, " is given up too early"));
      }
      gave_up_over_ = JobIsOver(step.status);
    }
  }

 private:
  struct Come {
    // whether the agent has just started: it has not promised to obey any
    // coordinator, so its first report has promised_epoch 0
    bool is_fresh = false;
    uint64_t sequence = 0;
    // highest age of the job in the agent's reports
    Duration job_age = Duration::zero();
    rendezvous::WorldId world;
    // world of the electorate that the agent reported; round 0: none reported
    rendezvous::WorldId elects;
    // number of nodes of the world that the agent reported; 0: none reported
    int nodes = 0;
    std::string node_id;
    std::vector<std::string> electors;  // the node ids of the electorate
    // the node ids of the world, if the agent reported them
    std::vector<std::string> members;
    // the order that ended this world; epoch 0: it has not ended
    rendezvous::RoundEnd end;
    // epoch of the coordinator that the agent followed last
    uint64_t followed = 0;
  };
  struct World {
    int come = 0;
    int nodes = 0;
  };

  // Whether no further agent can report, so that the coordinator need not wait
  // for the whole lease. This holds in these cases:
  // * With takeovers: all nodes of a world have reported.
  // * With takeover=auto: as above, or max_nodes agents have reported.
  // * Without takeovers: max_nodes agents have reported that they have just
  //   started or that they have a world.
  bool AllAreHere() const {
    const int most = plan().spec.max_nodes;
    if (plan().takeover) {
      return (plan().spec.takeover == rendezvous::Takeover::kAuto &&
              static_cast<int>(come_.size()) >= most) ||
             AWholeWorldIsHere();
    }
    const auto counts = [](const auto& one) {
      return one.second.is_fresh || one.second.nodes > 0;
    };
    return std::ranges::count_if(come_, counts) >= most;
  }

  // Whether all nodes of the world of `round` are in the job and know this
  // world.
  bool IsWhole(int round, const rendezvous::JobStatus& status) {
    std::map<rendezvous::WorldId, int> missing;
    for (const rendezvous::NodeStatus& node : status.nodes) {
      const Come& come = come_[node.node.incarnation];
      if (come.world.round != round) continue;
      --missing.try_emplace(come.world, come.nodes).first->second;
    }
    return !missing.empty() && missing.rbegin()->second <= 0;
  }

  // Whether the world of `round` is newer than the newest electorate that an
  // agent has reported. If so, the coordinator that formed this world did not
  // know that it had begun on all of its nodes. The next coordinator may then
  // stop the world, even if most of the world's nodes are connected.
  bool IsAfterTheElectorate(int round) const {
    if (!plan().takeover) return false;
    uint64_t epoch = 0;
    rendezvous::WorldId newest;
    for (const auto& [incarnation, come] : come_) {
      if (std::tie(epoch, newest) >= std::tie(come.followed, come.elects)) {
        continue;
      }
      epoch = come.followed;
      newest = come.elects;
    }
    return newest.round > 0 && std::ranges::any_of(come_, [&](const auto& one) {
             const rendezvous::WorldId& world = one.second.world;
             return world.round == round && world > newest;
           });
  }

  // Whether an agent of every node of some world has reported. The nodes of a
  // world are known once an agent has reported the world, or the electorate,
  // with its node ids. A restarted agent counts for its node, although it does
  // not report the world itself.
  bool AWholeWorldIsHere() const {
    std::set<std::string> here;
    for (const auto& [incarnation, come] : come_) here.insert(come.node_id);
    const auto are_here = [&here](const std::vector<std::string>& members) {
      return !members.empty() &&
             std::ranges::all_of(members, [&here](const std::string& id) {
               return here.contains(id);
             });
    };
    return std::ranges::any_of(come_, [&](const auto& one) {
      return are_here(one.second.members) || are_here(one.second.electors);
    });
  }

  // Checks the decision to continue `round` after reports from `counted` of its
  // nodes. These nodes must be a majority of the newest world that any node has
  // reported. With takeovers they may also be a majority of an older world: the
  // newer worlds may be void (rendezvous::IsVoid), so that they cannot begin on
  // all of their nodes.
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

  // Whether the job is over, as far as its nodes know: a node knows that a
  // coordinator has ended the job, and no agent knows another world or a newer
  // coordinator. Always false without takeovers: there, the job may have
  // continued without that node.
  bool JobIsOver(const rendezvous::JobStatus& status) {
    uint64_t newest = 0;
    for (const auto& [incarnation, come] : come_) {
      newest = std::max(newest, come.followed);
    }
    // Find the newest order that ended the world, because a coordinator may
    // have sent several different ones. Each directive has its own revision. So
    // nodes that got the same order are found by its exit code, not by its
    // revision.
    rendezvous::RoundEnd end;
    for (const auto& [incarnation, come] : come_) {
      const auto age = [](const rendezvous::RoundEnd& one) {
        return std::pair(one.epoch, one.revision);
      };
      if (come.followed == newest && age(come.end) > age(end)) end = come.end;
    }
    return plan().takeover && OneWorldIsKnown() && end.exit_code.has_value() &&
           std::ranges::any_of(status.nodes, [&](const auto& node) {
             const Come& come = come_[node.node.incarnation];
             return come.followed == newest &&
                    come.end.exit_code == end.exit_code;
           });
  }

  // Whether a node in the job knows that an earlier coordinator has cancelled
  // the job, and no agent knows another world. A cancel is the wish of a user,
  // so it counts even if newer coordinators have ended the world in another
  // way. Always false without takeovers, as JobIsOver.
  bool IsCancelled(const rendezvous::JobStatus& status) {
    return plan().takeover && OneWorldIsKnown() &&
           std::ranges::any_of(status.nodes, [&](const auto& node) {
             return come_[node.node.incarnation].end.cancelled;
           });
  }

  bool OneWorldIsKnown() const {
    std::set<rendezvous::WorldId> worlds;
    for (const auto& [incarnation, come] : come_) {
      if (come.nodes > 0) worlds.insert(come.world);
      if (come.elects.round > 0) worlds.insert(come.elects);
    }
    return worlds.size() == 1;
  }

  // Checks that the job is at least as old as its nodes have reported. Ignores
  // reports of agents that wait for a place, because these are not nodes of the
  // job yet.
  void CheckAge(const rendezvous::JobStatus& status) {
    Duration oldest = Duration::zero();
    for (const rendezvous::NodeStatus& node : status.nodes) {
      oldest = std::max(oldest, come_[node.node.incarnation].job_age);
    }
    if (status.age >= oldest) return;
    Fail(absl::StrCat("the job is ", ToSeconds(status.age),
                      " s old, although nodes know that it is ",
                      ToSeconds(oldest), " s old"));
  }

  Instant started_;
  // newest report of each agent, by incarnation
  std::map<uint64_t, Come> come_;
  // whether the job was over (JobIsOver) when the coordinator gave a round up
  bool gave_up_over_ = false;
};

}  // namespace

std::unique_ptr<Checker> NewAdoptionChecker(const Plan& plan) {
  return std::make_unique<AdoptionChecker>(plan);
}

}  // namespace muster::simulation
