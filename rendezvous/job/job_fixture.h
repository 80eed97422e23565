#ifndef MUSTER_RENDEZVOUS_JOB_JOB_FIXTURE_H_
#define MUSTER_RENDEZVOUS_JOB_JOB_FIXTURE_H_

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "rendezvous/job/job.h"
#include "rendezvous/quarantine/node_memory.h"

namespace muster::rendezvous {

// A Job together with agents that the test controls. There is one method for
// each event. Messages arrive at once. But a `deaf` agent receives no
// directives, and a `silent` agent sends no keep-alives.
class JobFixture {
 public:
  struct Agent {
    Report report;        // the report that the agent sends next
    StreamId stream = 0;  // the agent's stream; 0: not connected
    std::string peer;     // IP address from which the agent connects
    Directive told;       // the newest directive that the agent received
    int times_told = 0;
    bool deaf = false;    // whether the job's directives do not reach the agent
    bool silent = false;  // whether the agent sends no keep-alives
  };

  explicit JobFixture(const JobSpec& spec, uint64_t epoch = 7);
  // Returns a job whose coordinator runs in the process of node `host`. Every
  // other node can take over from this coordinator. A node's endpoint is its
  // name.
  static JobFixture HostedBy(const std::string& host, const JobSpec& spec);

  // --- The time, which only the test advances.
  Instant now() const { return now_; }
  // Advances the time. Calls Step at each deadline of the job, as a coordinator
  // does. At each keep-alive interval, sends a report of every agent that is
  // not silent.
  void Wait(Duration duration);
  // Calls Wait until a decision of this kind has been made or `limit` has
  // passed. Returns the time that has passed, to within 100 ms.
  Duration WaitFor(const std::string& kind, Duration limit);
  // Advances the time without calling Step, as if the coordinator's process
  // were suspended. The next call of Step is the first one after the
  // suspension.
  void StandStill(Duration duration);

  // Replaces the coordinator by another one that has the job's newest record
  // (that of the last step with JobStep::record_changed). No coordinator runs
  // for `away` in between. All streams are broken; the agents must reconnect.
  void ReplaceCoordinator(Duration away = Duration::zero());

  // Makes the job continue from a record of an earlier coordinator
  // (Job::Recall). The job must not have had an event yet.
  void Recall(const JobRecord& record) {
    job_->Recall(record, Duration::zero());
  }

  // Like ReplaceCoordinator, but the new coordinator has no record of the job.
  void ReplaceCoordinatorAndRecord(Duration away = Duration::zero());

  // Ends the process of the coordinator's node. After `away`, the process of
  // node `host` takes over as the coordinator. All streams are broken; the
  // agents must reconnect.
  void TakeOver(const std::string& host, Duration away = Duration::zero());

  // --- Agents. `name` is both the agent's node id and its host.
  Agent& agent(const std::string& name);
  // Adds an agent that has not reported yet, so that a test can change its
  // first report.
  Agent& Create(const std::string& name);
  // Calls Create if the agent is new, then sends its report.
  void Join(const std::string& name);
  void Report(const std::string& name);
  // Reports that the agent has started the workers of its directive's round.
  void Runs(const std::string& name);
  void Stopping(const std::string& name);
  void Idle(const std::string& name);
  void Succeeds(const std::string& name);
  // Reports a worker's `failure` while the agent stops its other workers.
  void Fails(const std::string& name, const Failure& failure);
  void BreakStream(const std::string& name);
  // Breaks the agent's stream, and advances the time beyond the reconnect grace
  // of QuickSpec, so that the job loses the node.
  void Lose(const std::string& name);
  // Makes the next report of a disconnected agent contain `failure` and
  // `phase`.
  void FailsUnreported(const std::string& name, const Failure& failure,
                       NodePhase phase);
  void Reconnect(const std::string& name);  // opens a stream, then reports
  // Calls Reconnect for each of `names`, in this order.
  void ReconnectAll(const std::vector<std::string>& names);
  // Simulates a restart of the agent: same place, new incarnation and stream.
  void Restart(const std::string& name);
  // Joins all of `names`; each agent starts its workers if its directive is
  // kRun.
  void StartAll(const std::vector<std::string>& names);
  // Makes every member with a stop directive report that it is idle.
  void AllStop();

  // Gives the event to the job. Then acts as a coordinator does: records the
  // faults of the step in memory(), and gives the job the new judgement of the
  // machines (HostsJudged).
  JobStep Step(const JobEvent& event);
  // The coordinator's memory of the machines' faults. After a change of the
  // memory, Judge must be called: it gives the job the new judgement of the
  // machines.
  NodeMemory& memory() { return memory_; }
  Duration wall_time() const { return now_.time_since_epoch(); }
  void Judge();

  // --- What the job has decided so far. `told`: the newest directive that the
  // agent `name` has received.
  const Directive& told(const std::string& name) { return agent(name).told; }
  DirectiveKind kind(const std::string& name) { return told(name).kind; }
  JobPhase phase() const { return job_->phase(); }
  JobStatus status() const { return job_->Status(now_); }
  const Job& job() const { return *job_; }
  int round() const { return status().round; }
  // Node ids of the current world's members, by group rank.
  std::vector<std::string> World() const;
  // Returns the reason of the newest decision of this kind; empty if there is
  // none.
  std::string Decided(const std::string& kind) const;
  // Returns the failure of the newest decision of this kind; nullopt: it has
  // none, or there is no such decision.
  std::optional<Failure> DecidedFailure(const std::string& kind) const;
  // Returns the number of decisions of this kind so far.
  int Count(const std::string& kind) const;
  const JobStep& last_step() const { return last_step_; }

 private:
  void SetPhase(const std::string& name, NodePhase phase);

  std::string host_;  // node whose process is the coordinator
  JobSpec spec_;
  Instant now_;
  Instant next_keep_alive_;
  uint64_t epoch_;
  std::unique_ptr<Job> job_;
  std::map<std::string, Agent> agents_;
  std::map<StreamId, std::string> by_stream_;
  StreamId next_stream_ = 1;
  std::vector<Decision> decisions_;
  NodeMemory memory_;
  JobStep last_step_;
  std::optional<JobRecord> record_;  // the newest record
  Instant recorded_;                 // the time of the newest record
};

// A spec with short time-outs: last call 4 s, join 60 s, lease 5 s (5
// keep-alive intervals of 1 s), reconnect grace 500 ms, stop grace 10 s,
// cool-down 5 s.
JobSpec QuickSpec(int min_nodes, int max_nodes);

// Returns the key of the machine `host`, with an invented IP address. The key
// is that of an agent's machine only if the test sets Agent::peer to this
// address.
HostKey KeyOf(const std::string& host);

// Returns the failure of worker `rank` that exited with `code`.
Failure ExitedWith(int rank, int code);

// Returns the failure of worker `rank` that died of `signal`, which no agent
// sent.
Failure KilledBy(int rank, int signal);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_JOB_JOB_FIXTURE_H_
