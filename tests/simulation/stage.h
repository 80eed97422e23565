#ifndef MUSTER_TESTS_SIMULATION_STAGE_H_
#define MUSTER_TESTS_SIMULATION_STAGE_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/simulation/checker.h"
#include "tests/simulation/event_queue.h"
#include "tests/simulation/plan.h"
#include "tests/simulation/random.h"
#include "tests/simulation/trace.h"

namespace muster::simulation {

// The objects that all parts of a simulation share.
struct Stage {
  Stage(uint64_t seed, Trace::Echo echo)
      : random(seed), plan(DrawPlan(random, seed)), trace(echo) {}

  void Note(const std::string& text) { trace.Line(queue.now(), text); }
  // Reports an event to every checker, and keeps the first breach.
  void Watch(const std::function<void(Checker&)>& tell);
  void Fail(const std::string& why) {
    if (failure.empty()) failure = why;
  }

  Random random;
  const Plan plan;
  EventQueue queue;
  Trace trace;
  std::vector<std::unique_ptr<Checker>> checkers;
  std::string failure;
  // how often each kind of event has occurred
  std::map<std::string, int> census;
  // By the epoch of each coordinator: the epoch of the first coordinator in the
  // series of coordinators that have continued one state. A coordinator without
  // a record begins a new series.
  std::map<uint64_t, uint64_t> memories;
  bool healed = false;  // phase 2 or 3 of Cluster: no more faults
  // phase 3 of Cluster: workers succeed as soon as they run
  bool finishing = false;
};

}  // namespace muster::simulation

#endif  // MUSTER_TESTS_SIMULATION_STAGE_H_
