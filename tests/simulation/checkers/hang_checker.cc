#include <algorithm>
#include <csignal>
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <variant>

#include "absl/strings/str_cat.h"
#include "tests/simulation/checkers/checkers.h"

namespace muster::simulation {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// How long its agent waits for a stack at most.
constexpr Duration kLook = seconds(15);
// How long an agent that something happened to may notice nothing: it is
// stopped for up to fifteen seconds.
constexpr Duration kTrouble = seconds(16);
constexpr Duration kSlack = milliseconds(1);

class HangChecker : public Checker {
 public:
  explicit HangChecker(const Plan& plan) : Checker(plan, "hangs") {}

  void OnWorkerHung(AgentName agent, uint64_t epoch, int round, int local_rank,
                    int rank) override {
    hung_.insert({agent.slot, epoch, round, rank});
    Watched& watched = watched_[agent.slot];
    if (watched.round != round) watched = Watched{.round = round};
    watched.local_ranks.insert(local_rank);
    if (preempted_.contains(agent.incarnation)) return;
    // Until the stop of an earlier one it is not looked at.
    if (watched.state != State::kNone) return;
    watched.state = State::kSilent;
    watched.due = now() + plan().hang_timeout + kSlack;
    const auto trouble = trouble_.find(agent.slot);
    if (trouble != trouble_.end()) Excuse(trouble->second, watched);
  }
  void OnTrouble(int slot) override {
    trouble_[slot] = now();
    const auto found = watched_.find(slot);
    if (found != watched_.end()) Excuse(now(), found->second);
  }
  void OnAgentEnded(AgentName agent) override { watched_.erase(agent.slot); }
  void OnWorkersGone(AgentName agent, uint64_t, int) override {
    watched_.erase(agent.slot);
  }
  void OnHealed() override { healed_ = true; }
  void OnAgentStepped(AgentName agent, const LifecycleStep& step,
                      std::optional<Instant>) override {
    for (const auto& action : step.actions) {
      if (const auto* take = std::get_if<TakeStacks>(&action)) {
        Suspected(agent.slot, *take);
        continue;
      }
      if (std::holds_alternative<AnnouncePreemption>(action)) {
        // The workers' last words may take them long.
        preempted_.insert(agent.incarnation);
      }
      if (std::holds_alternative<StartCheck>(action) ||
          std::holds_alternative<DropCheck>(action) ||
          std::holds_alternative<LookAtWorkers>(action) ||
          std::holds_alternative<EndAnnouncement>(action)) {
        continue;
      }
      const auto* signal = std::get_if<SignalWorkers>(&action);
      const bool forwarded = signal != nullptr && signal->signal == SIGUSR1;
      // It is being stopped, for this or something else.
      if (!forwarded) watched_.erase(agent.slot);
    }
  }
  void OnStep(const CoordinatorStepped& step) override {
    for (const Decision& decision : step.decisions) {
      if (decision.kind == "break" || decision.kind == "hang") {
        CheckBlamed(decision, step.epoch);
      }
    }
  }
  void OnTick() override {
    if (healed_) return;
    for (const auto& [slot, watched] : watched_) {
      if (watched.state == State::kNone || now() <= watched.due) continue;
      Fail(absl::StrCat(
          "a worker of n", slot, " hangs in round ", watched.round,
          watched.state == State::kSilent ? ", and nobody looks at it"
                                          : ", and is not stopped"));
    }
  }

 private:
  enum class State { kNone, kSilent, kLookedAt };
  struct Watched {
    int round = 0;
    std::set<int> local_ranks;  // that hang
    State state = State::kNone;
    Instant due;  // of what comes next
  };

  // An agent that was stopped hears then what was said before.
  void Excuse(Instant trouble, Watched& watched) const {
    watched.due =
        std::max(watched.due, trouble + kTrouble + plan().hang_timeout);
  }
  void Suspected(int slot, const TakeStacks& take) {
    if (healed_) return;  // it may recover in this moment
    const auto found = watched_.find(slot);
    // One that was stopped may not have heard yet that the worker has ended.
    const auto trouble = trouble_.find(slot);
    if (found == watched_.end() && trouble != trouble_.end() &&
        now() < trouble->second + kTrouble) {
      return;
    }
    if (found == watched_.end() || found->second.round != take.round ||
        !found->second.local_ranks.contains(take.workers.front().local_rank)) {
      Fail(absl::StrCat("worker ", take.workers.front().local_rank, " of n",
                        slot, " is suspected, and does not hang"));
      return;
    }
    found->second.state = State::kLookedAt;
    found->second.due = std::max(found->second.due, now() + kLook + kSlack);
  }
  void CheckBlamed(const Decision& decision, uint64_t epoch) {
    const size_t at = decision.reason.find(": rank ");
    const size_t because = decision.reason.find(" because rank ");
    if (decision.reason.find(": hung: ") == std::string::npos) return;
    const std::string why = because != std::string::npos
                                ? decision.reason.substr(because + 9)
                                : decision.reason.substr(at + 2);
    int rank = -1;
    int slot = -1;
    if (std::sscanf(why.c_str(), "rank %d on h%d:", &rank, &slot) != 2 ||
        !hung_.contains({slot, epoch, decision.round, rank})) {
      Fail("blamed, and did not hang: " + decision.reason);
    }
  }

  bool healed_ = false;
  std::map<int, Instant> trouble_;  // the newest, by slot
  std::map<int, Watched> watched_;  // by slot
  std::set<uint64_t> preempted_;    // incarnations
  std::set<std::tuple<int, uint64_t, int, int>> hung_;
};

}  // namespace

std::unique_ptr<Checker> NewHangChecker(const Plan& plan) {
  return std::make_unique<HangChecker>(plan);
}

}  // namespace muster::simulation
