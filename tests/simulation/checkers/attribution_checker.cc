#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "tests/simulation/checkers/checkers.h"

namespace muster::simulation {
namespace {

// Compares the reason of each broken round with the faults that the simulation
// has caused. A fault must really have happened to the node that the reason
// names.
class AttributionChecker : public Checker {
 public:
  explicit AttributionChecker(const Plan& plan)
      : Checker(plan, "attribution") {}

  void OnCoordinatorStarted(uint64_t epoch) override {
    size_ = 0;
    epoch_ = epoch;
    started_ = now();
    is_adopted_ = false;
  }
  void OnWorkerFailed(AgentName agent, uint64_t epoch, int round,
                      const rendezvous::Failure& failure) override {
    failures_.insert({agent.slot, epoch, round, failure.rank});
    failures_.insert({agent.slot, kAnyEpoch, round, failure.rank});
  }
  void OnWorkerHung(AgentName agent, uint64_t epoch, int round, int,
                    int rank) override {
    failures_.insert({agent.slot, epoch, round, rank});
    failures_.insert({agent.slot, kAnyEpoch, round, rank});
  }
  void OnOtherStep(const CoordinatorStepped& step) override {
    for (const rendezvous::Decision& decision : step.decisions) {
      if (decision.kind == "break") reasons_.insert(WhyOf(decision));
    }
    NoteMembers(step);
    // A newer coordinator sends a directive to a node. The node then obeys the
    // newer coordinator and sends no message to the older one, which this
    // checker observes. So the older coordinator may declare the node lost.
    // Therefore the directive counts as a fault of the node.
    for (const Sent& sent : step.sent) {
      if (step.epoch > epoch_) trouble_[sent.to.slot] = now();
    }
  }
  // A short suspension of the coordinator, up to kMaxLate, does not extend the
  // leases (Job::ForgiveSilence). So a lease may end although its node was not
  // silent. For a moment after a suspension, the checker therefore accepts that
  // any node is named as lost.
  void OnCoordinatorPaused() override { paused_ = now(); }
  void OnCoordinatorResumed() override { resumed_ = now(); }
  void OnTrouble(int slot) override { trouble_[slot] = now(); }
  void OnMovedOn(int slot) override { trouble_[slot] = now(); }
  void OnLeaveAsked(int slot) override { leave_asked_.insert(slot); }
  void OnCancelAsked() override { cancel_asked_ = true; }
  void OnPreemptionAsked() override { preemption_asked_ = true; }
  void OnStep(const CoordinatorStepped& step) override {
    NoteMembers(step);
    for (const rendezvous::Decision& decision : step.decisions) {
      is_adopted_ = is_adopted_ || decision.kind == "adopt";
      if (decision.kind == "assign") {
        is_adopted_ = false;
        began_ = now();
        size_ = static_cast<int>(std::count_if(
            step.sent.begin(), step.sent.end(), [&](const Sent& s) {
              return s.directive.kind == rendezvous::DirectiveKind::kRun &&
                     s.directive.place.round == step.status.round;
            }));
      }
      if (decision.kind == "break") CheckBreak(decision, step);
    }
  }

 private:
  static constexpr uint64_t kAnyEpoch = 0;
  static constexpr Duration kMaxLate = std::chrono::milliseconds(100);

  // Records the members of each round from the directives. The starts of
  // workers would not show all members, because a member may die before it
  // starts workers.
  void NoteMembers(const CoordinatorStepped& step) {
    for (const Sent& sent : step.sent) {
      if (sent.directive.kind != rendezvous::DirectiveKind::kRun) continue;
      const rendezvous::Place& place = sent.directive.place;
      members_[{place.round, place.group_rank}].insert(sent.to.slot);
    }
  }
  void CheckBreak(const rendezvous::Decision& decision,
                  const CoordinatorStepped& step) {
    const std::string prefix =
        absl::StrCat("round ", decision.round, " is broken: ");
    std::string why = WhyOf(decision);
    // In an adopted round, the reason may end with "; cancelled: …": an earlier
    // coordinator has then broken the round for the first reason, and the job
    // was cancelled afterwards. Check this cancel, and then only the first
    // reason.
    const size_t cancel = why.find("; cancelled: ");
    if (is_adopted_ && cancel != std::string::npos) {
      if (!cancel_asked_) Fail("nobody asked: " + why);
      why.resize(cancel);
    }
    // A coordinator that continues (adopts) a round learns from the nodes why
    // earlier rounds broke. It may name such an old reason again when the
    // adopted round breaks. So accept a repeated reason in an adopted round.
    const bool is_repeated = !reasons_.insert(why).second;
    if (is_adopted_ && is_repeated) return;
    if (decision.reason.compare(0, prefix.size(), prefix) != 0) {
      Fail("a break of another round: " + decision.reason);
    } else if (why.compare(0, 9, "cancelled") == 0) {
      if (!cancel_asked_) Fail("nobody asked: " + why);
    } else if (why.compare(0, 9, "preempted") == 0) {
      if (!preemption_asked_) Fail("nobody announced it: " + why);
    } else if (why.compare(0, 5, "rank ") == 0) {
      CheckFailure(why, decision.round, is_adopted_ ? kAnyEpoch : step.epoch);
    } else if (why.find("waited to be let in") != std::string::npos) {
      CheckLetIn(step);
    } else if (why.find(") goes: ") != std::string::npos) {
      if (!leave_asked_.contains(SlotOf(why)) && !Troubled(SlotOf(why))) {
        Fail("it was not asked to: " + why);
      }
    } else if (is_adopted_ &&
               why.find("did not come to the new") != std::string::npos) {
      if (now() < started_ + plan().spec.lease()) Fail("too early: " + why);
    } else if (is_adopted_ && why.find("which coordinated the job until") !=
                                  std::string::npos) {
      CheckLostHost(why, decision.round);
    } else if (is_adopted_ &&
               (why.find("the earlier coordinator was lost before") == 0 ||
                why.find("a new coordinator does not know it") == 0 ||
                why.find("the job went on without this node") == 0)) {
      // The three reasons in the condition above name no node of the round, so
      // there is no node whose faults could be checked. The first reason says
      // that the earlier coordinator was lost. An earlier coordinator has sent
      // the other two when it stopped a node.
    } else if (!Troubled(SlotOf(why)) && now() > resumed_ + kMaxLate) {
      Fail("nothing had happened to it: " + why);
    }
  }
  void CheckFailure(const std::string& why, int round, uint64_t epoch) {
    int rank = -1;
    int slot = -1;
    if (std::sscanf(why.c_str(), "rank %d on h%d:", &rank, &slot) != 2 ||
        !failures_.contains({slot, epoch, round, rank})) {
      Fail("no such failure in this round: " + why);
    }
  }
  // `why` says that `round` ended because the node that hosted an earlier
  // coordinator was lost. Checks that a fault has happened to this node.
  void CheckLostHost(const std::string& why, int round) {
    int rank = -1;
    std::sscanf(why.c_str(), "the node of group rank %d ", &rank);
    const std::set<int>& slots = members_[{round, rank}];
    if (std::none_of(slots.begin(), slots.end(),
                     [this](int slot) { return Troubled(slot); })) {
      Fail("nothing had happened to it: " + why);
    }
  }
  void CheckLetIn(const CoordinatorStepped& step) {
    if (plan().spec.scale_up != rendezvous::ScaleUp::kRestart ||
        size_ >= plan().spec.max_nodes || now() < began_ + CoolDown()) {
      Fail("scaled up against the policy");
    }
    const bool waits =
        std::any_of(step.status.nodes.begin(), step.status.nodes.end(),
                    [](const rendezvous::NodeStatus& node) {
                      return !node.group_rank.has_value();
                    });
    if (!waits) Fail("scaled up for nobody");
  }
  // Returns the shortest time for which a round keeps waiting nodes out. With
  // etcd, the next coordinator computes the age of the round from two wall
  // clocks, that of the record's writer and its own.
  Duration CoolDown() const {
    const Duration cool_down = plan().Shortest(plan().spec.scale_up_cool_down);
    return plan().etcd() ? cool_down - 2 * plan().max_skew : cool_down;
  }
  // Returns the reason why a round broke: "rank 1 …" from a decision with the
  // text "round 2 is broken: rank 1 …".
  static std::string WhyOf(const rendezvous::Decision& decision) {
    const size_t colon = decision.reason.find(": ");
    return colon == std::string::npos ? "" : decision.reason.substr(colon + 2);
  }
  // Returns the number of a node's slot from the reason why a round broke: 3
  // from "h3 (group rank 1) …".
  static int SlotOf(const std::string& why) {
    int slot = -1;
    std::sscanf(why.c_str(), "h%d (", &slot);
    return slot;
  }
  // Whether a fault happened to the node in `slot` in the current round, or
  // shortly before.
  bool Troubled(int slot) const {
    const auto found = trouble_.find(slot);
    const Duration lease = plan().spec.lease();
    Instant oldest = began_ - lease - plan().coordinator_timeout;
    // After a suspension the coordinator begins each lease again. So it may
    // still declare a node lost because of a fault from before the suspension.
    if (resumed_ >= oldest) oldest = std::min(oldest, paused_ - lease);
    return found != trouble_.end() && found->second >= oldest;
  }

  // the reason of each broken round so far
  std::set<std::string> reasons_;
  // The nodes that were members of a round, by round and group rank. A node is
  // given by its slot (its number in the simulation).
  std::map<std::pair<int, int>, std::set<int>> members_;
  Instant began_;
  uint64_t epoch_ = 0;  // epoch of the coordinator that this checker observes
  Instant started_;     // start of the coordinator that this checker observes
  Instant paused_;      // begin of the observed coordinator's newest suspension
  Instant resumed_;     // end of the observed coordinator's newest suspension
  // Whether an earlier coordinator began the current round.
  bool is_adopted_ = false;
  int size_ = 0;
  std::set<std::tuple<int, uint64_t, int, int>> failures_;
  // Time of each node's last fault. Key: the node's slot (its number in the
  // simulation).
  std::map<int, Instant> trouble_;
  std::set<int> leave_asked_;
  bool cancel_asked_ = false;
  bool preemption_asked_ = false;
};

}  // namespace

std::unique_ptr<Checker> NewAttributionChecker(const Plan& plan) {
  return std::make_unique<AttributionChecker>(plan);
}

}  // namespace muster::simulation
