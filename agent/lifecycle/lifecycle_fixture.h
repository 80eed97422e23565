#ifndef MUSTER_AGENT_LIFECYCLE_LIFECYCLE_FIXTURE_H_
#define MUSTER_AGENT_LIFECYCLE_LIFECYCLE_FIXTURE_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agent/lifecycle/lifecycle.h"

namespace muster::agent {

// A Lifecycle of a node with two workers, and what it has asked for so far.
class LifecycleFixture {
 public:
  // Grace 10 s, keep-alive 1 s, coordinator's absence: 20 s at first, 30 s
  // later.
  static Lifecycle::Config QuickConfig();

  explicit LifecycleFixture(Lifecycle::Config config = QuickConfig());

  LifecycleStep Step(const LifecycleEvent& event);
  // A step at each deadline, as a driver does.
  void Wait(Duration duration);
  // Lets time pass while the driver stands still. Must be followed by whatever
  // it does first then.
  void StandStill(Duration duration) { now_ += duration; }

  // --- the coordinator
  void Connect();
  void Disconnect(absl::Status why = absl::UnavailableError("reset"));
  // Sends a directive with the next revision.
  void Tell(rendezvous::Directive directive);
  // Sends a directive with the revision of the last one.
  void TellSame(rendezvous::Directive directive);
  void TellRun(int round);
  void TellStop(int round, Duration grace = std::chrono::seconds(10));
  void TellWait();
  void TellFinished(int exit_code);

  // --- the workers
  void Up(int local_rank);
  void Down(int local_rank);  // exited with 0
  void Fails(int local_rank,
             rendezvous::FailureKind kind = rendezvous::FailureKind::kExitCode);
  // Like Fails; it recorded an exception that long ago.
  void FailsAfterRecording(int local_rank, Duration ago);
  // Like Fails; no signal had been sent to it.
  void FailsByItself(int local_rank);
  void Says(int local_rank, const ProgressMessage& message = {});
  // The immediate answer to a LookAtWorkers request; nullopt: no answer.
  std::optional<WorkersSeen> seen = WorkersSeen{};
  void Gone() { Step(WorkersGone()); }
  // Connect, TellRun, both Up.
  void Run(int round);

  Instant now() const { return now_; }
  const Lifecycle& lifecycle() const { return lifecycle_; }
  rendezvous::NodePhase phase() const { return lifecycle_.phase(); }
  const LifecycleStep& last_step() const { return last_step_; }

  // --- what was asked for since the last Forget
  void Forget();
  std::vector<int> signals;     // to the workers, in order
  std::vector<int> everything;  // those of them that go to every descendant
  std::vector<std::pair<int, int>> to_one;  // local rank and signal
  std::vector<rendezvous::Place> starts;
  std::vector<std::string> closed_stores;  // the reasons
  int renewals = 0;                        // of the NCCL id
  std::vector<LookAtWorkers> looks;
  std::vector<TakeStacks> stacks_asked;
  std::vector<rendezvous::PreemptionNotice> announced;
  std::vector<std::string> announcements_ended;  // why
  std::vector<uint64_t> checks;                  // their numbers
  int checks_dropped = 0;
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

// A directive of this kind, with the default epoch, to be given to Tell.
rendezvous::Directive DirectiveOf(rendezvous::DirectiveKind kind);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_LIFECYCLE_LIFECYCLE_FIXTURE_H_
