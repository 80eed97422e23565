#ifndef MUSTER_RENDEZVOUS_JOB_JOB_FIXTURE_H_
#define MUSTER_RENDEZVOUS_JOB_JOB_FIXTURE_H_

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "rendezvous/job/job.h"

namespace muster::rendezvous {

// A Job together with agents that a test controls, with one call for each
// event. Messages arrive at once, unless an agent is deaf or silent.
class JobFixture {
 public:
  struct Agent {
    Report report;        // report that the agent sends next
    StreamId stream = 0;  // the agent's stream; 0: not connected
    std::string peer;     // address that its streams come from
    Directive told;       // newest directive that reached the agent
    int times_told = 0;
    bool deaf = false;    // whether directives do not reach the agent
    bool silent = false;  // whether the agent sends no keep-alives
  };

  explicit JobFixture(const JobSpec& spec, uint64_t epoch = 7);
  // A job whose coordinator is in the process of node `host`, and from which
  // every other node can take over. The endpoint of a node is its name.
  static JobFixture HostedBy(const std::string& host, const JobSpec& spec);

  // --- time
  Instant now() const { return now_; }
  // Advances the time as a driver does: calls Step at each deadline, and sends
  // a report of each agent that is not silent at each keep-alive interval.
  void Wait(Duration duration);
  // Calls Wait until a decision of this kind has been made, at most for
  // `limit`. Returns the time that has passed, to within 100 ms.
  Duration WaitFor(const std::string& kind, Duration limit);
  // Advances the time while the driver stands still. The next call must be the
  // first event that the driver handles afterwards.
  void StandStill(Duration duration);

  // Ends the coordinator, and begins another one with the job's record after
  // `away`. All streams are broken; the agents must reconnect.
  void ReplaceCoordinator(Duration away = Duration::zero());

  // The same, but the new coordinator knows nothing of the job.
  void ReplaceCoordinatorAndRecord(Duration away = Duration::zero());

  // The process of the coordinator's node ends, and the one of node `host`
  // takes over. All streams are broken; the agents must reconnect.
  void TakeOver(const std::string& host, Duration away = Duration::zero());

  // --- agents. `name` is both the node id and the host.
  Agent& agent(const std::string& name);
  // Adds an agent that has not reported yet, so that a test can change its
  // report.
  Agent& Create(const std::string& name);
  // Calls Create if the agent is new, then sends its report.
  void Join(const std::string& name);
  void Report(const std::string& name);
  // Reports that the round of the directive has started.
  void Runs(const std::string& name);
  void Stopping(const std::string& name);
  void Idle(const std::string& name);
  void Succeeds(const std::string& name);
  // Reports a worker's `failure` while the agent stops its other workers.
  void Fails(const std::string& name, const Failure& failure);
  void BreakStream(const std::string& name);
  // Changes the next report of an agent that is not connected: `failure` has
  // occurred, and the agent is in `phase`.
  void FailsUnreported(const std::string& name, const Failure& failure,
                       NodePhase phase);
  void Reconnect(const std::string& name);  // opens a new stream and reports
  void ReconnectAll(const std::vector<std::string>& names);  // in this order
  // Simulates a new start of the agent: same place, new incarnation and stream.
  void Restart(const std::string& name);
  // Joins all of `names`; each starts its workers if it is told to.
  void StartAll(const std::vector<std::string>& names);
  // Reports idle for every member that was told to stop.
  void AllStop();

  JobStep Step(const JobEvent& event);

  // --- results of the job's steps
  const Directive& told(const std::string& name) { return agent(name).told; }
  DirectiveKind kind(const std::string& name) { return told(name).kind; }
  JobPhase phase() const { return job_->phase(); }
  JobStatus status() const { return job_->Status(now_); }
  const Job& job() const { return *job_; }
  int round() const { return status().round; }
  // Ids of the members by group rank.
  std::vector<std::string> World() const;
  // The reason of the newest decision of this kind; empty if there is none.
  std::string Decided(const std::string& kind) const;
  // Number of decisions of this kind so far.
  int Count(const std::string& kind) const;
  const JobStep& last_step() const { return last_step_; }

 private:
  void SetPhase(const std::string& name, NodePhase phase);

  std::string host_;  // node that hosts the coordinator; empty: none
  JobSpec spec_;
  Instant now_;
  Instant next_keep_alive_;
  uint64_t epoch_;
  std::unique_ptr<Job> job_;
  std::map<std::string, Agent> agents_;
  std::map<StreamId, std::string> by_stream_;
  StreamId next_stream_ = 1;
  std::vector<Decision> decisions_;
  JobStep last_step_;
};

// A spec with short, round time-outs: last call 4 s, join 60 s, lease 5 × 1 s,
// reconnect grace 500 ms, stop grace 10 s, cool-down 5 s.
JobSpec QuickSpec(int min_nodes, int max_nodes);

// Worker `rank` exited with `code`.
Failure ExitedWith(int rank, int code);

// Worker `rank` was killed by `signal`, which no agent had sent.
Failure KilledBy(int rank, int signal);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_JOB_JOB_FIXTURE_H_
