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

// One job and its agents, the real pure cores, over a network that loses
// nothing and takes no time; writes down what they say to each other.
class Conversation {
 public:
  explicit Conversation(const JobSpec& spec);

  // A comment in the transcript: what happens to them next.
  void Say(const std::string& what);

  // An agent with two workers starts and finds the coordinator.
  void Start(const std::string& node);
  // An agent and all that is its ends without a word.
  void Kill(const std::string& node);
  void WorkerExits(const std::string& node, int local_rank, int code);
  void WorkersSucceed(const std::string& node);
  void Signal(const std::string& node, int signal);
  // What checks of a node find from now on; empty: it is fit. Agents that are
  // started after the first call check their nodes.
  void Unfit(const std::string& node, const std::string& why);
  void Drain(const std::string& node);
  void Wait(Duration duration);

  const std::string& transcript() const { return transcript_; }

 private:
  struct Agent {
    std::unique_ptr<Lifecycle> core;
    StreamId stream = 0;
    std::set<int> workers;  // local ranks that run
    Place place;
    std::string last_report;  // in words
  };

  void Write(const std::string& line);
  void Step(const std::string& node, const LifecycleEvent& event);
  void StepJob(const JobEvent& event);
  // Performs what is under way, until nobody has anything to say.
  void Settle();
  void StopWorkers(const std::string& node, int signal);

  const JobSpec spec_;
  Instant now_;
  Job job_;
  std::map<std::string, Agent> agents_;
  std::map<StreamId, std::string> by_stream_;
  StreamId last_stream_ = 0;
  bool checked_ = false;
  std::map<std::string, std::string> unfit_;
  std::deque<JobEvent> to_job_;
  std::deque<std::pair<std::string, LifecycleEvent>> to_agents_;
  std::string transcript_;
};

}  // namespace muster

#endif  // MUSTER_TESTS_SCENARIOS_CONVERSATION_H_
