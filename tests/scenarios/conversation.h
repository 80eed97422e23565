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

// One job and its agents (the real pure cores), connected by a network without
// loss or delay. Records their messages as a transcript.
class Conversation {
 public:
  explicit Conversation(const rendezvous::JobSpec& spec);

  // Adds a comment line to the transcript that says what happens next.
  void Say(const std::string& what);

  // Starts an agent with two workers on `node`; it finds the coordinator at
  // once.
  void Start(const std::string& node);
  // Ends an agent and its workers without a message.
  void Kill(const std::string& node);
  void WorkerExits(const std::string& node, int local_rank, int code);
  void WorkersSucceed(const std::string& node);
  void Signal(const std::string& node, int signal);
  // Sets the result of a node's health checks from now on; "": healthy. Agents
  // that start after the first call check their nodes.
  void Unhealthy(const std::string& node, const std::string& why);
  void Drain(const std::string& node);
  void Wait(Duration duration);

  const std::string& transcript() const { return transcript_; }

 private:
  struct Agent {
    std::unique_ptr<agent::Lifecycle> core;
    rendezvous::StreamId stream = 0;
    std::set<int> workers;  // local ranks whose workers run
    rendezvous::Place place;
    // the agent's last report as shown in the transcript
    std::string last_report;
  };

  void Write(const std::string& line);
  void Step(const std::string& node, const agent::LifecycleEvent& event);
  void StepJob(const rendezvous::JobEvent& event);
  // Delivers all messages in flight until no more are sent.
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
