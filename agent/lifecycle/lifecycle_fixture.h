#ifndef MUSTER_AGENT_LIFECYCLE_LIFECYCLE_FIXTURE_H_
#define MUSTER_AGENT_LIFECYCLE_LIFECYCLE_FIXTURE_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agent/lifecycle/lifecycle.h"

namespace muster::agent {

// A Lifecycle of a node with two workers, and a record of the actions that it
// has requested.
class LifecycleFixture {
 public:
  // A configuration with short times: a grace period of 10 s and a keep-alive
  // interval of 1 s. The coordinator may be absent for 20 s at the start, and
  // for 30 s later.
  static Lifecycle::Config QuickConfig();

  explicit LifecycleFixture(Lifecycle::Config config = QuickConfig());

  LifecycleStep Step(const LifecycleEvent& event);
  // Advances the time and calls Step at each deadline, as the agent's loop
  // does.
  void Wait(Duration duration);
  // Advances the time without calling Step, as if the agent were suspended. The
  // next call of the test is the first event that the agent handles after the
  // suspension.
  void PassTimeSuspended(Duration duration) { now_ += duration; }

  // --- The following functions simulate events of the connection to the
  // coordinator.
  void Connect();
  void Disconnect(absl::Status why = absl::UnavailableError("reset"));
  // Sends a directive with the next revision.
  void Tell(rendezvous::Directive directive);
  // Sends a directive with the same revision as the directive before it.
  void TellSame(rendezvous::Directive directive);
  void TellRun(int round);
  void TellStop(int round, Duration grace = std::chrono::seconds(10));
  void TellWait();
  void TellFinished(int exit_code);

  // --- The following functions simulate events of the workers.
  void Up(int local_rank);
  void Down(int local_rank);  // simulates that the worker exits with 0
  void Fails(int local_rank,
             rendezvous::FailureKind kind = rendezvous::FailureKind::kExitCode);
  // Simulates that a worker fails with exit code 3, at the time `ago` after it
  // recorded an exception in its error file.
  void FailsAfterRecording(int local_rank, Duration ago);
  // Simulates that a worker fails before any signal was sent to it.
  void FailsByItself(int local_rank);
  void Says(int local_rank, const ProgressMessage& message = {});
  // The immediate answer to a LookAtWorkers request; nullopt: no answer.
  std::optional<WorkersSeen> seen = WorkersSeen{};
  void Gone() { Step(WorkersGone()); }
  // Simulates that both workers exit with 0 and no process of them is left.
  void AllDown();
  // Calls Connect and TellRun and starts both workers.
  void Run(int round);

  Instant now() const { return now_; }
  const Lifecycle& lifecycle() const { return lifecycle_; }
  rendezvous::NodePhase phase() const { return lifecycle_.phase(); }
  const LifecycleStep& last_step() const { return last_step_; }

  // --- The following fields record what Step has returned: the actions,
  // reports and lines for the user. Forget clears the fields.
  void Forget();
  std::vector<int> signals;  // signals sent to the workers, in order
  // signals sent to all descendants of the workers, in order
  std::vector<int> everything;
  // local rank and signal of each signal sent to one worker
  std::vector<std::pair<int, int>> to_one;
  std::vector<rendezvous::Place> starts;
  std::vector<std::string> closed_stores;  // reason of each CloseStore request
  int renewals = 0;                        // number of RenewNcclId requests
  std::vector<LookAtWorkers> looks;
  std::vector<TakeStacks> stacks_asked;
  std::vector<rendezvous::PreemptionNotice> announced;
  // the field `why` of each EndAnnouncement, the action that stops the user's
  // --on-preempt command
  std::vector<std::string> announcements_ended;
  std::vector<uint64_t> checks;  // numbers of the requested health checks
  int checks_dropped = 0;
  std::vector<MeasurePair> measurements;
  int measurements_dropped = 0;
  std::vector<rendezvous::Report> reports;
  std::vector<std::vector<rendezvous::Failure>> ends;
  std::vector<std::string> notices;
  std::vector<std::string> losses;
  std::optional<Leave> leave;

 private:
  Instant now_{std::chrono::hours(1)};
  Lifecycle lifecycle_;
  LifecycleStep last_step_;
  uint64_t epoch_ = 7;
  uint64_t revision_ = 0;
};

// Makes a directive of this kind with the default epoch, as an argument of
// Tell.
rendezvous::Directive DirectiveOf(rendezvous::DirectiveKind kind);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_LIFECYCLE_LIFECYCLE_FIXTURE_H_
