#ifndef MUSTER_TESTS_SIMULATION_NETWORK_H_
#define MUSTER_TESTS_SIMULATION_NETWORK_H_

#include <functional>
#include <map>
#include <set>
#include <vector>

#include "rendezvous/job/job_step.h"
#include "tests/simulation/stage.h"

namespace muster::simulation {

// The streams between agents and the coordinator, with all their faults. Faults
// are worse than those of gRPC, which does not lose, repeat or reorder messages
// within a stream: both sides are level-triggered and must not depend on these
// guarantees.
class Network {
 public:
  struct Ends {
    std::function<bool()> coordinator_is_up;
    std::function<void(rendezvous::StreamId, AgentName)> attached;
    std::function<void(rendezvous::StreamId, const rendezvous::Report&)> report;
    std::function<void(rendezvous::StreamId)> closed;
    std::function<void(AgentName, rendezvous::StreamId)> connected;
    std::function<void(AgentName)> dial_failed;
    std::function<void(AgentName, rendezvous::StreamId,
                       const rendezvous::Directive&)>
        directive;
    std::function<void(AgentName, rendezvous::StreamId)> broken;
  };
  Network(Stage* stage, Ends ends) : stage_(stage), ends_(std::move(ends)) {}

  // The node gets `connected` or `dial_failed` later.
  void Dial(AgentName agent);
  void SendUp(rendezvous::StreamId stream, const rendezvous::Report& report);
  void SendDown(rendezvous::StreamId stream,
                const rendezvous::Directive& directive);
  // Closes the agent's stream after the messages that the agent has sent.
  void HangUp(rendezvous::StreamId stream);
  // Resets the connection. Each end learns of it after a delay of its own.
  void Break(rendezvous::StreamId stream);
  enum class Death {
    kProcess,  // the agent's process died: the kernel closes its stream
    kPower,    // the node lost its power: its stream stays silent
  };
  void AgentDied(rendezvous::StreamId stream, Death how);
  void CoordinatorDied();

  enum class Direction { kUp, kDown };
  void Cut(int slot, Direction direction, Duration duration);
  // Messages of a clogged node are held until it is unclogged.
  void Clog(int slot) { clogged_.insert(slot); }
  void Unclog(int slot);
  void Heal();

 private:
  struct Connection {
    AgentName agent;
    bool agent_end = true;
    bool coordinator_end = true;
    Instant last_up;    // arrival time of the newest message to the coordinator
    Instant last_down;  // the same for messages to the agent
    std::vector<std::function<void()>> clogged;
  };

  Connection* Find(rendezvous::StreamId stream);
  bool IsCut(int slot, Direction direction) const;
  Duration Delay(int slot);
  void Send(rendezvous::StreamId stream, Direction direction,
            const std::function<void()>& arrive);
  void CloseCoordinatorEnd(rendezvous::StreamId stream, Duration after);
  void CloseAgentEnd(rendezvous::StreamId stream, Duration after);
  void ForgetIfClosed(rendezvous::StreamId stream);

  Stage* const stage_;
  const Ends ends_;
  rendezvous::StreamId next_stream_ = 1;
  std::map<rendezvous::StreamId, Connection> connections_;
  // end of each cut, by slot and direction
  std::map<std::pair<int, Direction>, Instant> cuts_;
  std::set<int> clogged_;
};

}  // namespace muster::simulation

#endif  // MUSTER_TESTS_SIMULATION_NETWORK_H_
