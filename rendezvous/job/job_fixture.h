#ifndef MUSTER_RENDEZVOUS_JOB_JOB_FIXTURE_H_
#define MUSTER_RENDEZVOUS_JOB_JOB_FIXTURE_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "rendezvous/job/job.h"

namespace muster {

// A Job and agents that do what a test tells them, one line for each thing that
// happens. Messages arrive at once, unless an agent is deaf or silent.
class JobFixture {
 public:
  struct Agent {
    Report report;        // as it would be sent next
    StreamId stream = 0;  // 0: not connected
    Directive told;       // the newest directive that has reached it
    int times_told = 0;
    bool deaf = false;    // directives do not reach it
    bool silent = false;  // sends nothing by itself
  };

  explicit JobFixture(const JobSpec& spec, uint64_t epoch = 7);

  // --- time
  Instant now() const { return now_; }
  // Lets time pass as a driver does: a step at each deadline, a report of each
  // agent that is not silent at each keep-alive.
  void Wait(Duration duration);
  // Lets time pass while the driver stands still. Must be followed by whatever
  // it does first then.
  void StandStill(Duration duration);

  // --- agents. A name is node id and host at once.
  Agent& agent(const std::string& name);
  // An agent that has not reported yet, to be changed before it does.
  Agent& Create(const std::string& name);
  void Join(const std::string& name);  // Create unless it exists, and Report
  void Report(const std::string& name);
  void Runs(const std::string& name);  // started what it was told to
  void Stopping(const std::string& name);
  void Idle(const std::string& name);
  void Succeeds(const std::string& name);
  // Worker `rank` failed; the agent is stopping the others.
  void Fails(const std::string& name, const Failure& failure);
  void BreakStream(const std::string& name);
  void Reconnect(const std::string& name);  // on a new stream, with a report
  // The agent was started anew: same place, new incarnation, new stream.
  void Restart(const std::string& name);
  // Everybody in `names` joins, and starts what it is told to.
  void StartAll(const std::vector<std::string>& names);
  // Every member that was told to stop has stopped.
  void AllStop();

  JobStep Step(const JobEvent& event);

  // --- what came of it
  const Directive& told(const std::string& name) { return agent(name).told; }
  DirectiveKind kind(const std::string& name) { return told(name).kind; }
  JobPhase phase() const { return job_.phase(); }
  JobStatus status() const { return job_.Status(now_); }
  const Job& job() const { return job_; }
  int round() const { return status().round; }
  // Member names by group rank.
  std::vector<std::string> World() const;
  // The reason of the newest decision of this kind; empty if there was none.
  std::string Decided(const std::string& kind) const;
  int Count(const std::string& kind) const;  // decisions of this kind
  const JobStep& last_step() const { return last_step_; }

 private:
  void SetPhase(const std::string& name, NodePhase phase);

  JobSpec spec_;
  Instant now_;
  Instant next_keep_alive_;
  Job job_;
  std::map<std::string, Agent> agents_;
  std::map<StreamId, std::string> by_stream_;
  StreamId next_stream_ = 1;
  std::vector<Decision> decisions_;
  JobStep last_step_;
};

// A spec with short, round times: last call 4 s, join 60 s, lease 5 × 1 s,
// reconnect grace 500 ms, stop grace 10 s, cool-down 5 s.
JobSpec QuickSpec(int min_nodes, int max_nodes);

// Worker `rank` exited with `code`.
Failure ExitedWith(int rank, int code);

// Worker `rank` was killed by a `signal` that no agent had sent.
Failure KilledBy(int rank, int signal);

}  // namespace muster

#endif  // MUSTER_RENDEZVOUS_JOB_JOB_FIXTURE_H_
