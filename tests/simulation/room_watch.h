#ifndef MUSTER_TESTS_SIMULATION_ROOM_WATCH_H_
#define MUSTER_TESTS_SIMULATION_ROOM_WATCH_H_

#include <set>
#include <utility>

#include "tests/simulation/checker.h"

namespace muster::simulation {

// Computes whether a job must admit a healthy node that waits while a round is
// running. The job's status alone is not enough: it omits members that have
// succeeded and left, although their places in the round stay taken.
class RoomWatch : public Checker {
 public:
  explicit RoomWatch(const Plan& plan) : Checker(plan, "room") {}

  void OnCoordinatorStarted(uint64_t epoch) override;
  void OnReport(AgentName from, rendezvous::StreamId stream,
                const rendezvous::Report& report) override;
  void OnStep(const CoordinatorStepped& step) override;

  // Whether the job with `status`, in which a round is running, must admit a
  // healthy node that waits.
  bool MustLetIn(const rendezvous::JobStatus& status) const;

 private:
  // nodes that have had a place in a round: incarnation, round
  std::set<std::pair<uint64_t, int>> members_;
  std::set<int> succeeded_;  // rounds with a member that has succeeded
};

}  // namespace muster::simulation

#endif  // MUSTER_TESTS_SIMULATION_ROOM_WATCH_H_
