#ifndef MUSTER_TESTS_SCENARIOS_CONVERSATION_H_
#define MUSTER_TESTS_SCENARIOS_CONVERSATION_H_

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "agent/lifecycle/lifecycle.h"
#include "rendezvous/job/job.h"

namespace muster {

// One job and its agents: the real state machines, without I/O. A simulated
// network without loss or delay connects them. Records their messages as a
// transcript.
class Conversation {
 public:
  explicit Conversation(const rendezvous::JobSpec& spec);

  // Adds `what`, a comment on the next events, as a line to the transcript.
  void Say(const std::string& what);

  // Starts an agent with two workers on `node`. The agent is connected to the
  // coordinator at once.
  void Start(const std::string& node);
  // Kills the agent of `node` and its workers, as SIGKILL does: the agent sends
  // no last report.
  void Kill(const std::string& node);
  void WorkerExits(const std::string& node, int local_rank, int code);
  void WorkersSucceed(const std::string& node);
  void Signal(const std::string& node, int signal);
  // Sets the result of all later health checks of `node`; "": healthy. After
  // the first call, new agents have health checks.
  void Unhealthy(const std::string& node, const std::string& why);
  void Drain(const std::string& node);
  void Wait(Duration duration);

  const std::string& transcript() const { return transcript_; }

 private:
  struct Agent {
    std::unique_ptr<agent::Lifecycle> core;
    rendezvous::StreamId stream = 0;
    std::set<int> workers;  // local ranks of the workers that run
    rendezvous::Place place;
    // newest report of the agent, as shown in the transcript
    std::string last_report;
  };

  void Write(const std::string& line);
  void Step(const std::string& node, const agent::LifecycleEvent& event);
  void StepJob(const rendezvous::JobEvent& event);
  // Delivers messages until none is in flight.
  void Settle();
  void StopWorkers(const std::string& node, int signal);

  const rendezvous::JobSpec spec_;
  Instant now_;
  rendezvous::Job job_;
  std::map<std::string, Agent> agents_;
  std::map<rendezvous::StreamId, std::string> by_stream_;
  rendezvous::StreamId last_stream_ = 0;
  bool checked_ = false;
  std::map<std::string, std::string> unhealthy_;
  std::deque<rendezvous::JobEvent> to_job_;
  std::deque<std::pair<std::string, agent::LifecycleEvent>> to_agents_;
  std::string transcript_;
};

}  // namespace muster

#endif  // MUSTER_TESTS_SCENARIOS_CONVERSATION_H_
