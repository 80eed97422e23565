#ifndef MUSTER_LAUNCHER_RUN_REPORT_RUN_REPORT_H_
#define MUSTER_LAUNCHER_RUN_REPORT_RUN_REPORT_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "launcher/run_report/recorded_event.h"
#include "rendezvous/protocol/failure.h"
#include "rendezvous/protocol/time_ledger.h"

namespace muster::launcher {

// One round of the run: from the assignment of ranks to its end.
struct ReportRound {
  int number = 0;
  double begin = 0;  // the time at which the round began, in seconds since 1970
  // The time at which the round broke or the job ended; 0: the event log has
  // neither event.
  double end = 0;
  enum class End { kUnknown, kBroken, kFinished };
  End ended_by = End::kUnknown;
  // How the round began, such as "round begins: 2 nodes, 4 workers"; empty:
  // unknown.
  std::string began_as;
  std::string why;                           // why the round ended, a sentence
  std::optional<rendezvous::Failure> cause;  // the failure that ended the round
  // `max_step`: the highest step that a rank has reported in this round.
  // `first_step`: the lowest step in the first report of this round that has
  // steps.
  std::optional<int64_t> max_step;
  std::optional<int64_t> first_step;
};

// A broken round. After this round, the job continued with a new one or failed.
// The last round of a cancelled job is no interruption.
struct ReportInterruption {
  int round = 0;
  double time = 0;  // when the round broke, in seconds since 1970; 0: not known
  std::string why;
  // the failure that broke the round; nullopt: no worker or node failed
  std::optional<rendezvous::Failure> failure;
  // The interruption's cause and lost time, as computed by the coordinator;
  // nullopt: not in the event log or record. If the field `nodes` of the
  // Incident is 0, the lost time is unknown.
  std::optional<rendezvous::Incident> incident;
  // The time at which the next round began, in seconds since 1970; 0: there was
  // no next round.
  double next_round = 0;
  // Lower bound of the number of steps that the next round repeated. nullopt:
  // the steps are unknown.
  std::optional<int64_t> repeated_steps;
};

struct ReportSample {
  double time = 0;  // time of the sample in seconds since 1970
  int round = 0;
  std::optional<int64_t> step;  // the lowest of the ranks' current steps
  std::optional<double> loss;   // mean of the ranks' losses; may not be finite
  // tokens per second of all ranks together; 0: not reported
  double tokens_per_s = 0;
};

struct ReportNote {
  double time = 0;  // time of the decision in seconds since 1970
  int round = 0;
  std::string kind;
  std::string node;
  std::string reason;
};

// Output that a worker has left in the log folder.
struct ReportOutput {
  int round = 0;
  int rank = 0;
  std::string why;   // why the report shows this rank
  std::string host;  // host of the worker; empty: unknown
  struct Stream {
    std::string name;                // name of the output file
    std::vector<std::string> lines;  // printable last lines, oldest first
    int64_t bytes = 0;               // size of the worker's file
    bool is_cut = false;             // whether earlier lines are left out
  };
  // the worker's files that exist: its stack, stderr and stdout
  std::vector<Stream> streams;
  std::string error_message;  // message in the worker's error file; empty: none
  std::string error_traceback;
};

struct ReportFlight {
  int round = 0;
  // the analysis of the round's flight records, as `launch inspect` prints it
  std::string text;
};

struct ReportSource {
  std::string path;
  // what was read from the file: "12 events", "not readable: …"
  std::string what;
};

// A node of the job, as the journal of the job's coordinator describes it.
struct ReportMember {
  // id of the node; empty: not yet known to the coordinator
  std::string node_id;
  std::string host;
  // the node's group rank in the newest world; nullopt: the node is a spare
  std::optional<int> group_rank;
  std::optional<int> first_rank;
  int slots = 0;
  std::string state;  // "assigned", "spare", …; empty: not in the job any more
  std::string note;   // why the node leaves or has left; else empty
};

// The record of the job in its coordinator's journal (--state-dir).
struct ReportRecord {
  double written_at = 0;  // when the record was written, in seconds since 1970
  std::string phase;
  std::string reason;
  int round = 0;
  int restarts_used = 0;
  int max_restarts = 0;
  std::string run_tag;
  std::string owner;  // the principal or IP address to which the job is charged
  // the job's nodes in the order of group ranks; spares last
  std::vector<ReportMember> members;
  int64_t members_omitted = 0;
  // number of agents that have left and that the coordinator still remembers
  int64_t nodes_left = 0;
  std::optional<RecordedVerdict> verdict;
  // Whether this record was written after the run's last event.
  bool is_newer = false;
  // A sentence that compares the record with the event log; empty: the run has
  // no events.
  std::string comparison;
};

// A machine whose faults the coordinator remembers (docs/QUARANTINE.md).
struct ReportMachine {
  std::string host;
  std::string address;
  std::string state;
  double score = 0;
  // number of faults in this run that count against the machine (are not void)
  int faults = 0;
  // number of faults in other runs that count against the machine
  int faults_elsewhere = 0;
  // time of the machine's newest fault in this run, in seconds since 1970; 0:
  // none
  double newest_at = 0;
  std::string newest;  // text of the newest fault in this run
  // an operator's reason for the machine's ban or release
  std::string order;
};

// The content of the report of one run. Texts are bounded, but may have any
// characters.
struct RunReport {
  // Maximum numbers of entries of the report's lists. The lists of rounds and
  // notes may grow to 5/4 of their maximum; then the oldest entries are dropped
  // until the maximum is met. The list of samples, when it is full, drops every
  // second sample. The list of nodes, when it is full, accepts no further
  // nodes.
  static constexpr size_t kMaxRounds = 500;
  static constexpr size_t kMaxNotes = 200;
  static constexpr size_t kMaxSamples = 600;
  static constexpr size_t kMaxNodes = 1024;

  std::string run_id;
  // number of events; 0: there are only workers' files or a record
  int64_t events = 0;
  // first_time: the time of the first event; without events, the time at which
  // the job began. last_time: the time of the last event or, if it is later, of
  // the record. Without events, last_time is the time at which the job ended;
  // for an unfinished job, the time at which its record was written. 0:
  // unknown.
  double first_time = 0;
  double last_time = 0;
  // The time at which the job began, from the newest event of the kind "state";
  // 0: unknown.
  double began = 0;
  std::optional<RecordedVerdict> verdict;
  // The reason of the decision "finish"; empty: it is not in the log. The log
  // of an older version has this reason but no verdict.
  std::string finish_reason;
  // The job's phase and its reason, from the newest event of the kind "state",
  // or from the job's record in the coordinator's journal if that is newer;
  // empty: unknown.
  std::string newest_phase;
  std::string newest_reason;
  // restarts_used, max_restarts: the number of restarts so far, and the
  // maximum; sources as for newest_phase. nullopt: unknown.
  std::optional<int> restarts_used;
  std::optional<int> max_restarts;

  std::vector<ReportRound> rounds;
  std::vector<ReportInterruption> interruptions;
  int64_t rounds_dropped = 0;

  int nodes = 0;  // number of nodes of the newest world; 0: unknown
  int workers = 0;
  // how the nodes' time was spent; nullopt: not recorded
  std::optional<rendezvous::JobTime> time;
  double time_as_of = 0;  // when `time` was recorded, seconds since 1970
  // the nodes with their times, ordered by group rank; spares last
  std::vector<RecordedNode> node_times;
  int64_t nodes_omitted = 0;
  // ranks that were slow at the newest event of the kind "state"
  std::vector<RecordedSlowRank> slow_ranks;

  // Decisions about the health of nodes and machines: failed checks, hardware
  // errors, suspicion, quarantine, bans, and the ends of these states.
  std::vector<ReportNote> health;
  std::vector<ReportNote> stragglers;
  // the newest decisions of the coordinator, of all kinds
  std::vector<ReportNote> notes;
  int64_t notes_dropped = 0;
  std::vector<ReportSample> samples;
  std::vector<std::pair<std::string, std::string>> settings;

  // Content of the coordinator's journal: the job's record (nullopt: none) and
  // the machines with faults.
  std::optional<ReportRecord> record;
  std::vector<ReportMachine> machines;
  int64_t machines_omitted = 0;
  // time of the newest fault or operator's order in the coordinator's memory of
  // machines, in seconds since 1970
  double machines_as_of = 0;

  // ReadRun, not ReportBuilder, fills in the fields from here to `missing`.
  std::vector<ReportOutput> outputs;
  std::vector<ReportFlight> flights;
  std::vector<ReportSource> sources;
  // sentences that say what the report lacks
  std::vector<std::string> missing;
};

// A rank whose output the report shows.
struct WantedOutput {
  int round = 0;
  int rank = 0;
  std::string why;
  std::string host;
};
inline constexpr size_t kMaxWantedOutputs = 12;

// Makes the report of one run from its events. Pure.
class ReportBuilder {
 public:
  // Adds the next event; events come in the order of their times. Events after
  // the job's end may begin another run with the same run id. In this case only
  // the newer run is reported, and earlier_runs() is increased.
  void Add(const RecordedEvent& event);
  RunReport Take();

  // The number of complete runs with this run id before the reported one.
  int earlier_runs() const { return earlier_runs_; }

 private:
  void Begin(const RecordedEvent& event);
  void Break(const RecordedEvent& event);
  void AddState(const RecordedEvent& event, const RecordedState& state);
  void AddSample(const RecordedEvent& event, const RecordedProgress& progress);
  ReportRound* Current();

  RunReport report_;
  // key: number of the round that the incident broke
  std::map<int, rendezvous::Incident> incidents_;
  // the nodes of the run by node id
  std::map<std::string, RecordedNode> nodes_;
  double sample_distance_s_ = 0;
  int earlier_runs_ = 0;
};

// Returns the ranks whose output explains the run: the ranks that failed, the
// newest failure first. If no failed rank is known, and the job has not
// succeeded, returns the first ranks of the newest round. At most
// kMaxWantedOutputs. Pure.
std::vector<WantedOutput> WantedOutputs(const RunReport& report);

// The host of a rank in the newest world; empty: unknown. Pure.
std::string HostOfRank(const RunReport& report, int rank);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_RUN_REPORT_RUN_REPORT_H_
