#ifndef MUSTER_TESTS_SIMULATION_STAGE_H_
#define MUSTER_TESTS_SIMULATION_STAGE_H_

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/simulation/checker.h"
#include "tests/simulation/event_queue.h"
#include "tests/simulation/plan.h"
#include "tests/simulation/random.h"
#include "tests/simulation/trace.h"

namespace muster::simulation {

// Host number of a coordinator whose process runs outside of the nodes.
inline constexpr int kOutside = -1;

// Returns the endpoint of the coordinator with host number `host`: "c3" for the
// node in slot 3, "c" for kOutside (the process runs outside of the nodes).
std::string EndpointOf(int host);
// Returns the slot of the coordinator with this endpoint; kOutside if its
// process runs outside of the nodes.
int HostOf(const std::string& endpoint);

// The objects that all parts of one simulation share.
struct Stage {
  Stage(uint64_t seed, Trace::Echo echo)
      : random(seed),
        takeover_random(TakeoverRandom(~seed)),
        plan(DrawPlan(random, seed)),
        trace(echo) {}

  void Note(const std::string& text) { trace.Line(queue.now(), text); }
  // Passes an event to every checker: calls `tell` with each of them. Keeps the
  // first breach of an invariant.
  void Watch(const std::function<void(Checker&)>& tell);
  // Reports an event of the coordinator in slot `host` to the checkers of this
  // coordinator, and to those of the whole simulation. The checkers of other
  // coordinators do not get it.
  void WatchCoordinator(int host, const std::function<void(Checker&)>& tell);
  // Reports a step of the coordinator in slot `host`. The checkers of this
  // coordinator get the step by OnStep, the checkers of other coordinators by
  // OnOtherStep.
  void WatchStep(int host, const CoordinatorStepped& step);
  // Called when the coordinator with this epoch has ended its job.
  void NoteVerdict(uint64_t epoch, const rendezvous::Verdict& by);
  // Called when a new coordinator has been elected by nodes of which at least
  // one knows of an earlier coordinator.
  void NoteTakeover();
  // Whether the job has ended: a coordinator has given a final verdict, or the
  // newest coordinator has given another verdict and no other coordinator runs
  // the job.
  bool IsOver() const;
  void Fail(const std::string& why) {
    if (failure.empty()) failure = why;
  }

  Random random;
  // source of the random numbers that only plans with takeovers or etcd use
  Random takeover_random;
  // The random bits of the epochs that were drawn so far. A draw that repeats
  // one is drawn again: in a real job two equal draws are too rare to matter.
  std::set<uint64_t> drawn_epochs;
  const Plan plan;
  EventQueue queue;
  Trace trace;
  std::vector<std::unique_ptr<Checker>> checkers;
  // The checkers that observe one coordinator, by the slot of its process. They
  // do not get the events of other coordinators.
  std::map<int, std::vector<std::unique_ptr<Checker>>> coordinator_checkers;
  std::string failure;
  // number of occurrences of each kind of event
  std::map<std::string, int> census;
  // Maps the epoch of each coordinator to the epoch of the coordinator that
  // began its journal. The two are equal if the coordinator continues no
  // earlier journal.
  std::map<uint64_t, uint64_t> memories;
  uint64_t newest_epoch = 0;  // epoch of the newest coordinator
  // With etcd: the epoch of the coordinator whose steps the checkers get (0:
  // none), and whether they know it as suspended.
  uint64_t served_epoch = 0;
  bool served_is_paused = false;
  // The time of the event that the checkers get next, if it happened before the
  // current time (SimEtcd::Tell).
  std::optional<Instant> told_at;
  // epochs of coordinators that are running the job
  std::set<uint64_t> coordinating;
  // highest epoch of the coordinators that have ended the job; 0: no
  // coordinator has ended it
  uint64_t ended_epoch = 0;
  std::optional<rendezvous::Verdict> verdict;
  // Whether `verdict` ends the job for all nodes. With etcd, each verdict does:
  // the next coordinator reads it. Otherwise, a time-out never does: its
  // coordinator may have lost the other nodes, which may then elect another
  // coordinator. For the same reason, a cancel or a preemption does not if a
  // newer coordinator exists.
  bool verdict_is_final = false;
  // whether all faults are over (phases 2 and 3 of Cluster)
  bool healed = false;
  // whether workers succeed as soon as they run (phase 3 of Cluster)
  bool finishing = false;

 private:
  void Tell(Checker& checker, const std::function<void(Checker&)>& tell);
};

}  // namespace muster::simulation

#endif  // MUSTER_TESTS_SIMULATION_STAGE_H_
