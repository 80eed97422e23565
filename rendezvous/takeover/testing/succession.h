#ifndef MUSTER_RENDEZVOUS_TAKEOVER_TESTING_SUCCESSION_H_
#define MUSTER_RENDEZVOUS_TAKEOVER_TESTING_SUCCESSION_H_

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "rendezvous/job/job.h"
#include "rendezvous/takeover/standby.h"

namespace muster::rendezvous {

// Runs several coordinators and standbys of one job, and cuts nodes off at
// chosen moments. Records if two worlds run on all of their nodes at the same
// time (split).
//
// The agents obey directives as agent::Lifecycle does, with two differences:
// they stop their workers at once, and they connect only where they are told to
// (Connect). Each process, named after its node, runs a Job or a Standby, or
// none. Time advances only in Wait and WaitForRound.
class Succession {
 public:
  struct Agent {
    Report report;
    std::string process;  // the process to which the agent is connected
    StreamId stream = 0;  // the agent's stream; 0: the agent is not connected
    bool deaf = false;    // whether directives do not reach the agent
    // The newest directive that has not reached the agent.
    std::optional<Directive> unheard;
    // Sequence numbers of the newest reports, and when they were sent.
    std::deque<std::pair<uint64_t, Instant>> sent;
    bool has_left = false;  // whether the agent has left the job
  };

  // `founder`: the process that founds the job.
  Succession(const JobSpec& spec, const std::string& founder,
             const std::vector<std::string>& names);

  // Starts an agent of the node. An earlier one has ended.
  void Restart(const std::string& name);
  // Lets the process coordinate as the job's founder.
  void Found(const std::string& process, uint64_t epoch);

  bool has_agent(const std::string& name) const {
    return agents_.contains(name);
  }
  Agent& agent(const std::string& name) { return agents_.at(name); }
  const Report& report(const std::string& name) const {
    return agents_.at(name).report;
  }
  const std::map<std::string, Agent>& agents() const { return agents_; }
  bool coordinates(const std::string& process) const;
  // Two worlds that have run on all of their nodes at the same time; empty if
  // there were none.
  const std::string& split() const { return split_; }

  // Ends the process, and closes all connections to it.
  void End(const std::string& process);
  // Ends the agent of the node, and its workers.
  void EndAgent(const std::string& name);
  // Lets the process stand by. `draw`: the random part of its epochs.
  void StandBy(const std::string& process, uint64_t draw,
               Standby::Kind kind = Standby::Kind::kSuccessor);
  // Tells the process `to` that the process `from` coordinates the job, if it
  // does.
  void Announce(const std::string& from, const std::string& to);
  // Once the next standby is elected, these agents get no directives any more.
  void DeafenWhenElected(const std::vector<std::string>& names) {
    deafened_ = names;
  }

  void Connect(const std::vector<std::string>& names,
               const std::string& process);
  void Cut(const std::vector<std::string>& names);
  // Cuts nodes off, but the processes to which they were connected do not
  // notice it.
  void CutUnnoticed(const std::vector<std::string>& names);
  void Deafen(const std::vector<std::string>& names);
  // Ends Deafen: the agents get directives again. Each agent that has stayed
  // connected first gets the newest directive that it has missed.
  void Hear(const std::vector<std::string>& names);
  void Send(const std::string& name);

  // Advances the time; agents send keep-alives and answer directives.
  void Wait(Duration duration);
  // Like Wait, but returns as soon as the agent has begun `round`. From that
  // moment on, no agent sends anything.
  void WaitForRound(const std::string& name, int round,
                    Duration at_most = std::chrono::seconds(50));

 private:
  struct Process {
    std::unique_ptr<Job> job;
    std::unique_ptr<Standby> standby;
  };

  bool IsStopped() const;
  void Flush();
  // Advances the time to the next deadline, by at least 50 ms, but not beyond
  // `end`.
  void Tick(Instant end);
  void Take(const std::string& process, const JobStep& step);
  void Take(const std::string& process, const Standby::Step& step);
  void Deliver(const Delivery& delivery);
  void Obey(const std::string& name, Agent& one, const Directive& told);
  bool IsFresh(const Agent& one, const Directive& order) const;
  void Begin(Agent& one, const Place& place);
  void Check();

  const JobSpec spec_;
  Instant now_{std::chrono::hours(1)};
  Instant next_keep_alive_ = now_;
  std::map<std::string, Agent> agents_;
  std::map<std::string, Process> processes_;
  std::map<StreamId, std::string> streams_;  // the agent of each stream
  StreamId last_stream_ = 0;
  uint64_t incarnation_ = 1000;
  std::vector<std::string> due_;  // the agents that send a report next
  std::vector<std::string> deafened_;
  std::pair<std::string, int> stop_;
  std::string founder_;  // the process that has founded the job
  std::string split_;
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_TAKEOVER_TESTING_SUCCESSION_H_
