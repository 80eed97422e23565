#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/simulation/checkers/checkers.h"
#include "tests/simulation/stage.h"

namespace muster::simulation {
namespace {

using std::chrono::seconds;

// Time limit for the election of a new coordinator by undisturbed nodes. A
// majority of nodes must be at one standby at the same time. Each node stays at
// a standby for 5 to 10 s, then tries the next one; meanwhile standbys that
// reach each other send their nodes to one of them. The limit allows one visit
// of 10 s to each of up to four standbys, and 8 s for the election.
constexpr Duration kMeeting = seconds(48);

class TakeoverTimeChecker : public Checker {
 public:
  explicit TakeoverTimeChecker(const Plan& plan)
      : Checker(plan, "takeover in time") {}

  void OnCoordinatorStarted(uint64_t) override { lost_since_.reset(); }
  void OnWorkersStarted(AgentName agent, uint64_t epoch,
                        const rendezvous::Place& place) override {
    const rendezvous::WorldId id = {.epoch = epoch, .round = place.round};
    World& world = worlds_[id];
    world.nodes = place.group_world_size;
    world.members = place.members;
    world.electors = place.electors;
    world.started[place.group_rank] = agent;
    places_[agent.incarnation] = id;
  }
  void OnCoordinatorCrashed() override { lost_since_ = now(); }
  void OnTrouble(int) override { troubled_ = now(); }
  void OnAgentStarted(AgentName agent) override {
    alive_.insert(agent.incarnation);
    newest_agents_[agent.slot] = agent.incarnation;
    troubled_ = now();
  }
  void OnAgentEnded(AgentName agent) override {
    alive_.erase(agent.incarnation);
    leaving_.erase(agent.incarnation);
    places_.erase(agent.incarnation);
    electorates_.erase(agent.incarnation);
    standbys_.erase(agent.incarnation);
    spares_.erase(agent.incarnation);
    troubled_ = now();
  }
  void OnAgentStepped(AgentName agent, const agent::LifecycleStep& step,
                      std::optional<Instant>) override {
    if (step.standbys.has_value()) {
      standbys_[agent.incarnation] = *step.standbys;
    }
    if (!step.report.has_value()) return;
    const rendezvous::Electorate& electorate = step.report->electorate;
    electorates_[agent.incarnation] = electorate;
    if (electorate.is_spare && !step.report->place.has_value()) {
      spares_.insert(agent.incarnation);
    } else {
      spares_.erase(agent.incarnation);
    }
    if (!step.report->leave.has_value()) return;
    if (leaving_.insert(agent.incarnation).second) troubled_ = now();
  }
  void OnAgentPaused(AgentName agent) override {
    paused_.insert(agent.incarnation);
  }
  void OnAgentResumed(AgentName agent) override {
    paused_.erase(agent.incarnation);
    troubled_ = now();
  }
  void OnStep(const CoordinatorStepped& step) override {
    // Once the job has ended under one coordinator, no other coordinator need
    // take over.
    if (step.status.phase == rendezvous::JobPhase::kFinished) over_ = true;
    if (lost_since_.has_value()) lost_since_ = now();
  }
  void OnTick() override {
    // With the faults straggle, clog and drop, any message may be late. So no
    // time limit holds for a takeover.
    if (plan().straggle > 0 || plan().clog > 0 || plan().drop > 0) return;
    if (!lost_since_.has_value() || over_ || !MustElect()) return;
    const Instant quiet = std::max(*lost_since_, troubled_);
    const Duration bound = kMeeting + plan().link_timeout;
    if (now() <= quiet + bound) return;
    Fail(absl::StrCat("nobody has taken over within ", ToSeconds(bound),
                      " s without a fault"));
    lost_since_.reset();
  }

 private:
  struct World {
    int nodes = 0;
    // the agents that have started this world, by group rank
    std::map<int, AgentName> started;
    // the node ids of this world, by group rank; empty: not listed
    std::vector<std::string> members;
    // number of this world's nodes that were electors when the world formed
    // (Place::electors)
    int electors = 0;
  };

  bool IsThere(uint64_t agent) const {
    return alive_.contains(agent) && !paused_.contains(agent) &&
           !leaving_.contains(agent);
  }
  // Whether the agent can take part in an election: it is alive, not suspended,
  // not about to leave the job, and can find the other agents. It finds them at
  // the endpoint of the job, which is that of slot 0, or at a standby whose
  // endpoint it knows.
  bool Votes(uint64_t agent) const {
    const auto first = newest_agents_.find(0);
    const bool is_first_up =
        first != newest_agents_.end() && IsThere(first->second);
    return IsThere(agent) && (is_first_up || KnowsAStandby(agent));
  }
  // Whether `member`, an agent that belonged to `world`, was replaced by a new
  // agent that votes in its place.
  bool HasReturned(const World& world, const AgentName& member) const {
    const auto newest = newest_agents_.find(member.slot);
    return plan().spec.RestartedAgentsElect() &&
           world.nodes <= rendezvous::kMaxListedElectors &&
           newest != newest_agents_.end() &&
           newest->second != member.incarnation && Votes(newest->second) &&
           !places_.contains(newest->second);
  }
  // Returns the newest electorate (the world whose nodes elect a coordinator)
  // that a voting agent knows; 0 nodes: none.
  rendezvous::Electorate NewestElectorate() const {
    rendezvous::Electorate newest;
    for (const auto& [agent, one] : electorates_) {
      const bool is_newer =
          std::tie(one.epoch, one.world) > std::tie(newest.epoch, newest.world);
      if (Votes(agent) && one.nodes > 0 && is_newer) newest = one;
    }
    return newest;
  }
  // Whether the world `id` can never begin on all of its nodes, because a
  // voting agent that belongs to it has not started it.
  //
  // The electorate has Electorate::nodes agents. Of these, World::electors
  // belong to the world, and the others do not. If the voting agents of the
  // electorate that have not started the world are more than these others, at
  // least one of them belongs to the world.
  bool CannotBegin(const rendezvous::WorldId& id,
                   const rendezvous::Electorate& electorate) const {
    const World& world = worlds_.at(id);
    const auto found = worlds_.find(electorate.world);
    if (found == worlds_.end()) return false;
    int unaware = 0;
    for (const auto& [rank, member] : found->second.started) {
      const auto place = places_.find(member.incarnation);
      const bool may_belong =
          world.members.empty() ||
          rendezvous::RankIn(world.members, absl::StrCat("n", member.slot)) >=
              0;
      const bool is_unaware = place == places_.end() || place->second != id;
      unaware += Votes(member.incarnation) && may_belong && is_unaware ? 1 : 0;
    }
    return unaware > 0 && unaware + world.electors > electorate.nodes;
  }
  // Whether the living agents that can vote are a majority of the world `id`.
  // Agents of `electorate` that it lists also vote if they have not started it.
  bool HasMajority(rendezvous::WorldId id,
                   const rendezvous::Electorate& electorate) const {
    const auto found = worlds_.find(id);
    if (found == worlds_.end()) return false;
    const World& world = found->second;
    int remember = 0;
    int returned = 0;
    for (size_t rank = 0;
         id == electorate.world && rank < electorate.incarnations.size();
         ++rank) {
      const bool has_started = world.started.contains(static_cast<int>(rank));
      remember += !has_started && Votes(electorate.incarnations[rank]) ? 1 : 0;
    }
    for (const auto& [rank, member] : world.started) {
      remember += Votes(member.incarnation) ? 1 : 0;
      returned += HasReturned(world, member) ? 1 : 0;
    }
    return 2 * remember >= world.nodes &&
           2 * (remember + returned) > world.nodes;
  }
  // Whether the living agents must elect a coordinator. They must if they have
  // a majority of each of two worlds: the electorate, and the newest later
  // world that a voting agent has begun. The later world does not count if it
  // can never begin on all of its nodes (CannotBegin).
  //
  // With Takeover::kAuto, the living agents need no majority of a world if few
  // other agents can exist. `here`: the number of living agents that can vote,
  // without spares. `elsewhere`: the highest possible number of the job's other
  // agents, without spares. `elsewhere` must be lower than half of the world's
  // nodes, and OthersAreFew must hold.
  //
  // Before the first world, `here` counts only the agents that know the
  // endpoint of a living standby.
  bool MustElect() const {
    if (worlds_.empty()) {
      return plan().spec.RestartedAgentsElect() &&
             OthersAreFew(std::ranges::count_if(alive_, [&](uint64_t agent) {
               return Votes(agent) && KnowsAStandby(agent);
             }));
    }
    const rendezvous::Electorate electorate = NewestElectorate();
    if (electorate.nodes == 0) return false;
    rendezvous::WorldId after;
    for (const auto& [agent, world] : places_) {
      const bool is_void =
          world <= electorate.world || world.epoch < electorate.epoch;
      if (!is_void && Votes(agent)) after = std::max(after, world);
    }
    std::set<rendezvous::WorldId> worlds = {electorate.world};
    if (after.round > 0 && !CannotBegin(after, electorate)) {
      worlds.insert(after);
    }
    const auto here = std::ranges::count_if(alive_, [&](uint64_t agent) {
      return Votes(agent) && !spares_.contains(agent);
    });
    const auto elsewhere = Elsewhere(here);
    const bool are_few = OthersAreFew(here);
    return std::ranges::all_of(worlds, [&](const rendezvous::WorldId& id) {
      const auto found = worlds_.find(id);
      if (found == worlds_.end()) return false;
      return HasMajority(id, electorate) ||
             (are_few && 2 * elsewhere < found->second.nodes);
    });
  }
  // Returns how many agents the job can have at most in addition to `here`
  // agents.
  int64_t Elsewhere(int64_t here) const {
    return std::max<int64_t>(0, plan().spec.max_nodes - here);
  }
  // Whether `here` agents may elect a coordinator without a majority. They may
  // with Takeover::kAuto, if the job's other agents (see Elsewhere) are fewer
  // than `here` and fewer than half of min_nodes. If two worlds can never run
  // at the same time (RestartedAgentsElect), fewer than min_nodes is enough.
  bool OthersAreFew(int64_t here) const {
    const rendezvous::JobSpec& spec = plan().spec;
    const int64_t others = Elsewhere(here);
    return spec.takeover == rendezvous::Takeover::kAuto && others < here &&
           (spec.RestartedAgentsElect() ? others : 2 * others) < spec.min_nodes;
  }
  // Whether the agent knows the endpoint of a standby that can coordinate the
  // job: the process of an agent that is alive, not suspended and not about to
  // leave.
  bool KnowsAStandby(uint64_t agent) const {
    const auto known = standbys_.find(agent);
    return known != standbys_.end() &&
           std::ranges::any_of(known->second, [&](const std::string& endpoint) {
             const auto newest = newest_agents_.find(HostOf(endpoint));
             return newest != newest_agents_.end() && IsThere(newest->second);
           });
  }

  // time at which the last coordinator was lost; nullopt: a coordinator runs
  std::optional<Instant> lost_since_;
  // latest time at which a fault happened, or an agent started, began to leave,
  // ended or continued after a suspension
  Instant troubled_;
  bool over_ = false;
  std::map<rendezvous::WorldId, World> worlds_;
  // newest world of each living agent, by incarnation
  std::map<uint64_t, rendezvous::WorldId> places_;
  // the standbys' endpoints that each living agent knows, by incarnation
  std::map<uint64_t, std::vector<std::string>> standbys_;
  // the electorate that each living agent knows, by incarnation
  std::map<uint64_t, rendezvous::Electorate> electorates_;
  std::set<uint64_t> alive_;
  // for each node (key: its slot), the incarnation of its newest agent
  std::map<int, uint64_t> newest_agents_;
  std::set<uint64_t> paused_;
  std::set<uint64_t> leaving_;
  std::set<uint64_t> spares_;  // agents that may be spares
};

}  // namespace

std::unique_ptr<Checker> NewTakeoverTimeChecker(const Plan& plan) {
  return std::make_unique<TakeoverTimeChecker>(plan);
}

}  // namespace muster::simulation
