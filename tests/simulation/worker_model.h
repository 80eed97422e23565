#ifndef MUSTER_TESTS_SIMULATION_WORKER_MODEL_H_
#define MUSTER_TESTS_SIMULATION_WORKER_MODEL_H_

#include <functional>
#include <vector>

#include "agent/lifecycle/lifecycle_step.h"
#include "tests/simulation/stage.h"

namespace muster::simulation {

// A model of one agent's guardian process and workers. The guardian performs
// requests in order, each after a delay of a few milliseconds, and reports the
// results.
class WorkerModel {
 public:
  WorkerModel(Stage* stage, AgentName agent,
              std::function<void(agent::LifecycleEvent)> tell)
      : stage_(stage), agent_(agent), tell_(std::move(tell)) {}

  void Start(uint64_t epoch, const rendezvous::Place& place);
  void Signal(const agent::SignalWorkers& order);
  // Simulates the death of the guardian, alone or together with its agent: all
  // workers die.
  void Die();
  // Makes one running worker fail, if there is one.
  void CrashOne();
  // Makes one running worker hang: it keeps running but sends no reports until
  // the simulation ends all faults.
  void HangOne();
  // Simulates that the agent inspects the processes of its workers. Reports to
  // the agent that all of them sleep.
  void Look(const agent::LookAtWorkers& order);
  void TakeStack(const agent::TakeStacks& order);
  // Makes every running worker succeed soon.
  void Finish();

  bool alive() const;
  bool running() const;  // whether every worker is running
  uint64_t epoch() const { return epoch_; }
  int round() const { return place_.round; }
  // Called when a worker has failed by itself.
  std::function<void(const WorkerModel&)> on_crash;

 private:
  enum class State { kNone, kPending, kUp, kEnded };
  // Makes the guardian perform `what` after everything that it was asked to do
  // earlier. If the guardian dies before, `what` is not performed.
  void Ask(std::function<void()> what);
  void Spawn(int worker);
  // Reports the progress of `worker` now, then periodically while the worker
  // runs.
  void Beat(int worker);
  bool Hangs(int worker) const;
  void Deliver(const agent::SignalWorkers& order);
  void EndLater(int worker, Duration after,
                std::optional<rendezvous::Failure> failure);
  void End(int worker, const std::optional<rendezvous::Failure>& failure);
  rendezvous::Failure FailureOf(int worker, rendezvous::FailureKind kind) const;
  void Tell(const agent::WorkerDown& event);
  void NoteIfGone();
  void TellIfGone();

  Stage* const stage_;
  const AgentName agent_;
  const std::function<void(agent::LifecycleEvent)> tell_;
  uint64_t epoch_ = 0;
  rendezvous::Place place_;
  std::vector<State> workers_;
  std::vector<int> ignores_term_;
  std::vector<int> hung_;
  int orphans_ = 0;
  // whether a worker's process is running, or was running at some time since
  // the last WorkersGone event
  bool any_ = false;
  bool dead_ = false;
  bool busy_ = false;  // whether workers were started and some have not ended
  int generation_ = 0;
  // time at which the guardian will have performed all requests so far
  Instant free_at_;
};

}  // namespace muster::simulation

#endif  // MUSTER_TESTS_SIMULATION_WORKER_MODEL_H_
