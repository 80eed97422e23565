#ifndef MUSTER_TESTS_SIMULATION_CHECKER_H_
#define MUSTER_TESTS_SIMULATION_CHECKER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/lifecycle/lifecycle_step.h"
#include "base/time.h"
#include "rendezvous/job/job_step.h"
#include "rendezvous/protocol/job_status.h"
#include "tests/simulation/plan.h"

namespace muster::simulation {

// The name of one agent process. A slot (the node's number in the simulation)
// may have several agents one after another, so the name also has the
// incarnation.
struct AgentName {
  int slot = 0;
  uint64_t incarnation = 0;
};

// A directive and the agent to which it was sent.
struct Sent {
  AgentName to;
  rendezvous::Directive directive;
};

// The result of one step of the coordinator.
struct CoordinatorStepped {
  // slot of the node that hosts the coordinator; -1: it runs outside of the
  // nodes
  int host = -1;
  // The coordinator's epoch. If the coordinator has continued a journal,
  // `epoch` is the epoch of the coordinator that began this journal.
  uint64_t epoch = 0;
  rendezvous::JobStatus status;  // the job's status after the step
  std::vector<rendezvous::Decision> decisions;
  std::vector<Sent> sent;
  std::optional<Instant> next_deadline;
  // If the job continues from the record of an earlier coordinator
  // (Job::Recall): the newest round in this record; otherwise 0.
  int recalled_round = 0;
  // Whether the journal contains the state after the step.
  bool is_recorded = false;
};

// Checks one invariant of a simulation. Every checker gets all events in the
// order in which they happen. A checker overrides the methods for the events
// that it needs.
class Checker {
 public:
  Checker(const Plan& plan, std::string name)
      : plan_(plan), name_(std::move(name)) {}
  virtual ~Checker() = default;
  Checker(const Checker&) = delete;
  Checker& operator=(const Checker&) = delete;

  // --- events of the coordinator
  virtual void OnCoordinatorStarted(uint64_t /*epoch*/) {}
  // The coordinator has crashed and lost all its state. Only its journal
  // remains, if it has one.
  virtual void OnCoordinatorCrashed() {}
  // A new coordinator has read the journal of the coordinator that crashed, and
  // continues the job of the journal.
  virtual void OnCoordinatorContinued() {}
  virtual void OnReport(AgentName /*from*/, rendezvous::StreamId /*stream*/,
                        const rendezvous::Report& /*report*/) {}
  virtual void OnStreamClosed(AgentName /*of*/,
                              rendezvous::StreamId /*stream*/) {}
  virtual void OnStep(const CoordinatorStepped& /*step*/) {}
  // A coordinator that this checker does not observe has made a step.
  virtual void OnOtherStep(const CoordinatorStepped& /*step*/) {}
  virtual void OnCoordinatorPaused() {}
  // The suspended coordinator process runs again. Next, it handles the events
  // that arrived during the suspension.
  virtual void OnCoordinatorResumed() {}
  // With etcd: etcd has made the coordinator with this epoch the leader.
  virtual void OnLeader(uint64_t /*epoch*/) {}
  // With etcd: the coordinator with this epoch sends a directive, or would send
  // one if an event called for it, because it takes itself for the leader.
  virtual void OnMayOrder(uint64_t /*epoch*/) {}
  // --- events of agents
  virtual void OnAgentStarted(AgentName /*agent*/) {}
  virtual void OnAgentEnded(AgentName /*agent*/) {}
  virtual void OnAgentPaused(AgentName /*agent*/) {}
  virtual void OnAgentResumed(AgentName /*agent*/) {}
  // The agent is about to handle this directive; OnAgentStepped follows.
  virtual void OnDirective(AgentName /*agent*/,
                           const rendezvous::Directive& /*directive*/) {}
  virtual void OnAgentStepped(AgentName /*agent*/,
                              const agent::LifecycleStep& /*step*/,
                              std::optional<Instant> /*next_deadline*/) {}
  virtual void OnWorkersStarted(AgentName /*agent*/, uint64_t /*epoch*/,
                                const rendezvous::Place& /*place*/) {}
  // A worker failed by itself (no agent stopped it), or could not be started.
  virtual void OnWorkerFailed(AgentName /*agent*/, uint64_t /*epoch*/,
                              int /*round*/,
                              const rendezvous::Failure& /*failure*/) {}
  // A worker stops reporting, after earlier reports. It may recover.
  virtual void OnWorkerHung(AgentName /*agent*/, uint64_t /*epoch*/,
                            int /*round*/, int /*local_rank*/, int /*rank*/) {}
  // All processes of this round's workers on this node have ended.
  virtual void OnWorkersGone(AgentName /*agent*/, uint64_t /*epoch*/,
                             int /*round*/) {}
  // --- faults
  // A fault has happened to the node in this slot or to its connections.
  // Because of the fault, the coordinator may consider the agent in the slot
  // lost.
  virtual void OnTrouble(int /*slot*/) {}
  // The agent of this slot closes its connection, to try another coordinator.
  virtual void OnMovedOn(int /*slot*/) {}
  // The agent in this slot got SIGTERM, or an operator drains its node.
  virtual void OnLeaveAsked(int /*slot*/) {}
  virtual void OnCancelAsked() {}
  virtual void OnPreemptionAsked() {}
  virtual void OnHealed() {}
  // Called at regular intervals of simulated time.
  virtual void OnTick() {}

  void SetNow(Instant now) { now_ = now; }
  // Describes the first breach of this checker's invariant; empty while the
  // invariant holds.
  const std::string& breach() const { return breach_; }

 protected:
  void Fail(const std::string& message) {
    if (breach_.empty()) breach_ = name_ + ": " + message;
  }
  Instant now() const { return now_; }
  const Plan& plan() const { return plan_; }

 private:
  const Plan plan_;
  const std::string name_;
  Instant now_;
  std::string breach_;
};

}  // namespace muster::simulation

#endif  // MUSTER_TESTS_SIMULATION_CHECKER_H_
