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
  // The agent closes its stream after the messages that it has sent.
  void HangUp(rendezvous::StreamId stream);
  // The connection is reset. Each end learns this after a delay of its own.
  void Break(rendezvous::StreamId stream);
  enum class Death {
    kProcess,  // the kernel closes the stream
    kPower,    // the stream stays silent
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
    Instant last_up;    // arrival time of the message sent last
    Instant last_down;  //
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
  std::map<std::pair<int, Direction>, Instant> cuts_;  // end of each cut
  std::set<int> clogged_;
};

}  // namespace muster::simulation

#endif  // MUSTER_TESTS_SIMULATION_NETWORK_H_
