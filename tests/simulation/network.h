#ifndef MUSTER_TESTS_SIMULATION_NETWORK_H_
#define MUSTER_TESTS_SIMULATION_NETWORK_H_

#include <functional>
#include <map>
#include <set>
#include <vector>

#include "rendezvous/job/job_step.h"
#include "tests/simulation/stage.h"

namespace muster::simulation {

// The streams between agents and coordinators, with simulated faults. The
// streams may lose, repeat and reorder messages, although gRPC's streams do
// not: agents and coordinators must not rely on these guarantees of gRPC.
class Network {
 public:
  enum class Process { kUp, kSuspended, kDown, kWithoutPower };
  struct Ends {
    // Returns the state of the process that hosts a coordinator. In all members
    // of Ends, `host` is the slot of this process, or kOutside if the
    // coordinator runs outside of the nodes.
    std::function<Process(int host)> coordinator;
    std::function<void(int host, rendezvous::StreamId, AgentName)> attached;
    std::function<void(int host, rendezvous::StreamId,
                       const rendezvous::Report&)>
        report;
    std::function<void(int host, rendezvous::StreamId)> closed;
    std::function<void(AgentName, rendezvous::StreamId)> connected;
    std::function<void(AgentName)> dial_failed;
    std::function<void(AgentName, rendezvous::StreamId,
                       const rendezvous::Directive&)>
        directive;
    std::function<void(AgentName, rendezvous::StreamId)> broken;
  };
  Network(Stage* stage, Ends ends) : stage_(stage), ends_(std::move(ends)) {}

  // Connects an agent to the coordinator in `host`. Later calls Ends::connected
  // or Ends::dial_failed.
  void Dial(AgentName agent, int host);
  void SendUp(rendezvous::StreamId stream, const rendezvous::Report& report);
  void SendDown(rendezvous::StreamId stream,
                const rendezvous::Directive& directive);
  // Closes the agent's end of the stream at once. The coordinator's end closes
  // later, once the messages that the agent has sent have arrived.
  void HangUp(rendezvous::StreamId stream);
  // Resets the connection. The agent and the coordinator each notice the reset
  // after a random delay.
  void Break(rendezvous::StreamId stream);
  enum class Death {
    kProcess,  // only the process died: the kernel closes its streams
    kPower,    // the node lost its power: its streams stay silent
  };
  void AgentDied(rendezvous::StreamId stream, Death how);
  void CoordinatorDied(int host, Death how);
  // Sends a message from the coordinator in slot `from` to the coordinator in
  // slot `to`. Calls `arrive` later, unless the message is lost.
  void Tell(int from, int to, std::function<void()> arrive);

  enum class Direction { kUp, kDown };
  // For `duration`, drops messages from the slot (kUp) or to the slot (kDown).
  // If the coordinator runs outside of the nodes, these are messages of the
  // slot's agent. If coordinators run in the nodes' processes, these are the
  // messages to or from all other slots.
  void Cut(int slot, Direction direction, Duration duration);
  // For `duration`, drops all messages from slot `from` to slot `to`.
  void CutPair(int from, int to, Duration duration);
  // From now on, holds back all messages between the agent in `slot` and
  // coordinators in other slots, until Unclog.
  void Clog(int slot) { clogged_.insert(slot); }
  void Unclog(int slot);
  void Heal();
  // Whether messages to or from this slot are now dropped (Cut, CutPair) or
  // held back (Clog).
  bool IsTroubled(int slot) const;

 private:
  struct Connection {
    AgentName agent;
    int host = kOutside;
    // last time at which the coordinator's process was able to answer
    Instant answered;
    bool agent_end = true;
    bool coordinator_end = true;
    Instant last_up;    // arrival time of the newest message to the coordinator
    Instant last_down;  // arrival time of the newest message to the agent
    std::vector<std::function<void()>> clogged;
  };

  Connection* Find(rendezvous::StreamId stream);
  bool IsSlotCut(int slot, Direction direction) const;
  // Whether messages between the agent in `slot` and the coordinator in `host`
  // are dropped. kUp: those to the coordinator. kDown: those to the agent.
  bool IsCut(int slot, int host, Direction direction) const;
  bool IsPairCut(int from, int to) const;
  void KeepAlive(rendezvous::StreamId stream);
  Duration Delay(int slot);
  Duration Delay(int slot, int host);
  void Send(rendezvous::StreamId stream, Direction direction,
            const std::function<void()>& arrive);
  void CloseCoordinatorEnd(rendezvous::StreamId stream, Duration after);
  void CloseAgentEnd(rendezvous::StreamId stream, Duration after);
  void ForgetIfClosed(rendezvous::StreamId stream);

  Stage* const stage_;
  const Ends ends_;
  rendezvous::StreamId next_stream_ = 1;
  std::map<rendezvous::StreamId, Connection> connections_;
  // time at which each cut of a slot ends, by slot and direction
  std::map<std::pair<int, Direction>, Instant> cuts_;
  // time at which each cut between two slots ends, by sender and receiver
  std::map<std::pair<int, int>, Instant> pair_cuts_;
  std::set<int> clogged_;
};

}  // namespace muster::simulation

#endif  // MUSTER_TESTS_SIMULATION_NETWORK_H_
