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

// Maximum time that an agent waits for the call stack of a hanging worker.
constexpr Duration kLook = seconds(15);
// Maximum delay that a fault can cause in the actions of an agent. For example,
// an agent may be suspended for up to 15 s.
constexpr Duration kTrouble = seconds(16);
constexpr Duration kSlack = milliseconds(1);

class HangChecker : public Checker {
 public:
  explicit HangChecker(const Plan& plan) : Checker(plan, "hangs") {}

  void OnWorkerHung(AgentName agent, uint64_t epoch, int round, int local_rank,
                    int rank) override {
    hung_.insert({agent.slot, epoch, round, rank});
    hung_.insert({agent.slot, kAnyEpoch, round, rank});
    Watched& watched = watched_[agent.slot];
    if (watched.round != round) watched = Watched{.round = round};
    watched.local_ranks.insert(local_rank);
    if (preempted_.contains(agent.incarnation)) return;
    if (killed_.contains(agent.slot)) return;
    // If the agent is already handling a hang on its node, it takes no further
    // stack, so the current time limit stays.
    if (watched.state != State::kNone) return;
    // While a node stops, its agent takes no stack, because all workers will be
    // killed.
    const auto stopping = kill_by_.find(agent.slot);
    if (stopping != kill_by_.end()) {
      AwaitKill(stopping->second, agent.slot, watched);
      return;
    }
    watched.state = State::kSilent;
    watched.due = now() + plan().Longest(plan().hang_timeout) + kSlack;
    ExcuseTrouble(agent.slot, watched);
  }
  void OnCoordinatorStarted(uint64_t) override { is_adopted_ = false; }
  void OnTrouble(int slot) override {
    trouble_[slot] = now();
    const auto found = watched_.find(slot);
    if (found != watched_.end()) Excuse(now(), found->second);
  }
  void OnAgentEnded(AgentName agent) override { Forget(agent.slot); }
  void OnWorkersGone(AgentName agent, uint64_t, int) override {
    Forget(agent.slot);
  }
  void OnHealed() override { healed_ = true; }
  void OnAgentStepped(AgentName agent, const agent::LifecycleStep& step,
                      std::optional<Instant>) override {
    for (const auto& action : step.actions) {
      if (const auto* take = std::get_if<agent::TakeStacks>(&action)) {
        Suspected(agent.slot, *take);
        continue;
      }
      if (std::holds_alternative<agent::AnnouncePreemption>(action)) {
        // After the notice of a preemption, workers write a checkpoint, which
        // may take long. So ignore hangs from now on.
        preempted_.insert(agent.incarnation);
        Forget(agent.slot);
      }
      if (std::holds_alternative<agent::StartWorkers>(action))
        Forget(agent.slot);
      const auto* signal = std::get_if<agent::SignalWorkers>(&action);
      if (signal != nullptr) Signalled(agent, *signal);
    }
  }
  void OnStep(const CoordinatorStepped& step) override {
    for (const rendezvous::Decision& decision : step.decisions) {
      if (decision.kind == "adopt") is_adopted_ = true;
      if (decision.kind == "assign") is_adopted_ = false;
      if (decision.kind == "break" || decision.kind == "hang") {
        CheckBlamed(decision, is_adopted_ ? kAnyEpoch : step.epoch);
      }
    }
  }
  void OnTick() override {
    if (healed_) return;
    for (const auto& [slot, watched] : watched_) {
      if (watched.state == State::kNone || now() <= watched.due) continue;
      Fail(absl::StrCat("a worker of n", slot, " hangs in round ",
                        watched.round, ", and ", Missed(watched.state)));
    }
  }

 private:
  static constexpr uint64_t kAnyEpoch = 0;

  enum class State { kNone, kSilent, kLookedAt, kStopped };
  static const char* Missed(State state) {
    return state == State::kSilent     ? "nobody looks at it"
           : state == State::kLookedAt ? "is not stopped"
                                       : "is not killed";
  }
  struct Watched {
    int round = 0;
    std::set<int> local_ranks;  // local ranks of the workers that hang
    State state = State::kNone;
    // time by which the agent must take the hanging workers' call stacks (in
    // state kSilent), stop the workers (kLookedAt), or kill them (kStopped)
    Instant due;
  };

  // Extends the time limit of `watched`, because a fault happened at the time
  // `trouble`. For example, a suspended agent handles its messages only after
  // the suspension.
  void Excuse(Instant trouble, Watched& watched) const {
    watched.due =
        std::max(watched.due, trouble + kTrouble + plan().hang_timeout);
  }
  void ExcuseTrouble(int slot, Watched& watched) const {
    const auto trouble = trouble_.find(slot);
    if (trouble != trouble_.end()) Excuse(trouble->second, watched);
  }
  void Forget(int slot) {
    watched_.erase(slot);
    kill_by_.erase(slot);
    killed_.erase(slot);
  }
  // Handles a signal of the agent to its workers. A signal that stops all
  // workers sets the time by which the agent must kill those that still run.
  void Signalled(AgentName agent, const agent::SignalWorkers& order) {
    // SIGUSR1, which the agent only forwards, does not stop workers
    if (order.signal == SIGUSR1) return;
    // ignore a signal to a single worker
    if (order.local_rank.has_value()) return;
    if (order.signal == SIGKILL || preempted_.contains(agent.incarnation)) {
      Forget(agent.slot);
      if (order.signal == SIGKILL) killed_.insert(agent.slot);
      return;
    }
    // Ignore a signal after SIGKILL: it is meant for processes that the workers
    // have left behind.
    if (killed_.contains(agent.slot)) return;
    const Instant kill_by =
        kill_by_
            .try_emplace(
                agent.slot,
                now() + plan().Longest(plan().spec.shutdown_timeout) + kSlack)
            .first->second;
    const auto found = watched_.find(agent.slot);
    if (found != watched_.end()) AwaitKill(kill_by, agent.slot, found->second);
  }
  void AwaitKill(Instant kill_by, int slot, Watched& watched) const {
    watched.state = State::kStopped;
    watched.due = kill_by;
    ExcuseTrouble(slot, watched);
  }
  void Suspected(int slot, const agent::TakeStacks& take) {
    // once the simulation has ended all faults, the worker may have recovered
    if (healed_) return;
    const auto found = watched_.find(slot);
    // A recently suspended agent may suspect a worker that has already ended,
    // because it has not learned of the worker's end yet. This is no error.
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
    if (found->second.state == State::kStopped) return;
    found->second.state = State::kLookedAt;
    found->second.due =
        std::max(found->second.due, now() + plan().Longest(kLook) + kSlack);
  }
  void CheckBlamed(const rendezvous::Decision& decision, uint64_t epoch) {
    const size_t at = decision.reason.find(": rank ");
    const size_t because = decision.reason.find(" because rank ");
    if (decision.reason.find(": hung: ") == std::string::npos) return;
    // Skip a decision with " goes: ": a node leaves because it found no
    // coordinator, and the text repeats the reason of an older failure.
    if (decision.reason.find(" goes: ") != std::string::npos) return;
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
  // Whether an earlier coordinator began the current round.
  bool is_adopted_ = false;
  // Time of each node's last fault. Key: the node's slot (its number in the
  // simulation).
  std::map<int, Instant> trouble_;
  // Hanging workers of each node. Key: the node's slot.
  std::map<int, Watched> watched_;
  // Time by which a stopping node must send SIGKILL to its workers. Key: the
  // node's slot.
  std::map<int, Instant> kill_by_;
  // Slots of nodes whose workers were sent SIGKILL and have not all ended yet.
  // If such a worker stops reporting, it does not hang: it is about to die.
  std::set<int> killed_;
  // agents that know of a preemption, by incarnation
  std::set<uint64_t> preempted_;
  std::set<std::tuple<int, uint64_t, int, int>> hung_;
};

}  // namespace

std::unique_ptr<Checker> NewHangChecker(const Plan& plan) {
  return std::make_unique<HangChecker>(plan);
}

}  // namespace muster::simulation
