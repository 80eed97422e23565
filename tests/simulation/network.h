#ifndef MUSTER_TESTS_SIMULATION_NETWORK_H_
#define MUSTER_TESTS_SIMULATION_NETWORK_H_

#include <functional>
#include <map>
#include <set>
#include <vector>

#include "rendezvous/job/job_step.h"
#include "tests/simulation/stage.h"

namespace muster::simulation {

// Streams between agents and the coordinator, and everything that can happen
// to them. Worse than gRPC, which neither loses, repeats nor reorders messages
// within a stream: both sides are level-triggered and must not depend on it.
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

  // `connected` or `dial_failed` follows.
  void Dial(AgentName agent);
  void SendUp(rendezvous::StreamId stream, const rendezvous::Report& report);
  void SendDown(rendezvous::StreamId stream,
                const rendezvous::Directive& directive);
  // The agent ends its stream in order, after what it has sent.
  void HangUp(rendezvous::StreamId stream);
  // The connection is reset; each end hears of it in its own time.
  void Break(rendezvous::StreamId stream);
  enum class Death {
    kProcess,  // the kernel ends the stream
    kPower,    // nothing is ever heard again
  };
  void AgentDied(rendezvous::StreamId stream, Death how);
  void CoordinatorDied();

  enum class Direction { kUp, kDown };
  void Cut(int slot, Direction direction, Duration duration);
  // Messages of a clogged node wait until it is unclogged.
  void Clog(int slot) { clogged_.insert(slot); }
  void Unclog(int slot);
  void Heal();

 private:
  struct Connection {
    AgentName agent;
    bool agent_end = true;
    bool coordinator_end = true;
    Instant last_up;    // when the message sent last arrives
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
  std::map<std::pair<int, Direction>, Instant> cuts_;  // until when
  std::set<int> clogged_;
};

}  // namespace muster::simulation

#endif  // MUSTER_TESTS_SIMULATION_NETWORK_H_
