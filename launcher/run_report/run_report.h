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
  double begin = 0;  // seconds since 1970
  // When the round broke or the job ended; 0: neither is in the event log.
  double end = 0;
  enum class End { kUnknown, kBroken, kFinished };
  End ended_by = End::kUnknown;
  std::string began_as;  // the reason of the event that began the round
  std::string why;       // why the round ended, a sentence
  std::optional<rendezvous::Failure> cause;  // the failure that ended it
  // The highest step that a rank has reported in this round, and the lowest one
  // in the round's first report of a step.
  std::optional<int64_t> max_step;
  std::optional<int64_t> first_step;
};

// A round that ended early although the job was to go on or failed.
struct ReportInterruption {
  int round = 0;
  double time = 0;  // seconds since 1970; 0: not known
  std::string why;
  std::optional<rendezvous::Failure> failure;  // nullopt: nothing failed
  // The interruption's cause and lost time, as the coordinator has counted
  // them; nullopt: the log has none. If `nodes` is 0, the lost time is unknown.
  std::optional<rendezvous::Incident> incident;
  // When the next round began; 0: there was none.
  double next_round = 0;
  // The number of steps that the next round is known to have repeated: the
  // real number may be higher. nullopt: steps are not known.
  std::optional<int64_t> repeated_steps;
};

struct ReportSample {
  double time = 0;  // seconds since 1970
  int round = 0;
  std::optional<int64_t> step;  // lowest step of a rank
  std::optional<double> loss;   // mean over the ranks; may not be finite
  double tokens_per_s = 0;      // 0: not reported
};

struct ReportNote {
  double time = 0;  // seconds since 1970
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
  std::string host;  // empty: unknown
  struct Stream {
    std::string name;                // file name
    std::vector<std::string> lines;  // printable lines, oldest first
    int64_t bytes = 0;               // size of the file
    bool is_cut = false;             // whether earlier lines are left out
  };
  std::vector<Stream> streams;  // stderr, stdout, stack
  std::string error_message;    // of the error file; empty: none
  std::string error_traceback;
};

struct ReportFlight {
  int round = 0;
  std::string text;  // as `launch inspect` prints it
};

struct ReportSource {
  std::string path;
  std::string what;  // "12 events", "not readable: …"
};

// A node of the job in the record of its coordinator.
struct ReportMember {
  std::string node_id;  // empty: the coordinator did not know it yet
  std::string host;
  std::optional<int> group_rank;  // in the newest world; nullopt: a spare
  std::optional<int> first_rank;
  int slots = 0;
  std::string state;  // "assigned", "spare", …; empty: not in the job any more
  std::string note;   // why it leaves or left; empty: it does not
};

// The record of the job in its coordinator's journal (--state-dir).
struct ReportRecord {
  double written_at = 0;  // seconds since 1970
  std::string phase;
  std::string reason;
  int round = 0;
  int restarts_used = 0;
  int max_restarts = 0;
  std::string run_tag;
  std::string owner;  // the principal or IP address to which the job is charged
  std::vector<ReportMember> members;  // by group rank, spares last
  int64_t members_omitted = 0;
  int64_t nodes_left = 0;  // agents that the coordinator remembers, and lost
  std::optional<RecordedVerdict> verdict;
  // Whether the record is newer than the newest event.
  bool is_newer = false;
  // How the record and the event log compare, a sentence; empty: the run has no
  // events.
  std::string comparison;
};

// A machine whose faults the coordinator remembers (docs/QUARANTINE.md).
struct ReportMachine {
  std::string host;
  std::string address;
  std::string state;
  double score = 0;
  int faults = 0;            // in this run; faults that count
  int faults_elsewhere = 0;  // in other runs
  double newest_at = 0;      // time of the newest fault in this run; 0: none
  std::string newest;        // text of that fault
  std::string order;  // of an operator: the ban's or the release's reason
};

// What the report of one run says. Texts are bounded, but may have any
// characters.
struct RunReport {
  // Bounds of the lists below; of longer ones the newest entries are kept.
  static constexpr size_t kMaxRounds = 500;
  static constexpr size_t kMaxNotes = 200;
  static constexpr size_t kMaxSamples = 600;
  static constexpr size_t kMaxNodes = 1024;

  std::string run_id;
  int64_t events = 0;  // number of events; 0: only files or a record are there
  double first_time = 0;  // of the first and the last event; 0: no events
  double last_time = 0;
  double began = 0;  // of the job, by the newest state; 0: no states
  std::optional<RecordedVerdict> verdict;
  // The reason of the decision "finish"; empty: the log has none. A log may
  // have it without the verdict: an older version writes no states.
  std::string finish_reason;
  std::string newest_phase;  // of the newest state; empty: no states
  std::string newest_reason;
  std::optional<int> restarts_used;  // of the newest state, as the next field
  std::optional<int> max_restarts;

  std::vector<ReportRound> rounds;
  std::vector<ReportInterruption> interruptions;
  int64_t rounds_dropped = 0;

  int nodes = 0;  // size of the newest world; 0: unknown
  int workers = 0;
  std::optional<rendezvous::JobTime> time;  // nullopt: not recorded
  double time_as_of = 0;  // when `time` was recorded, seconds since 1970
  std::vector<RecordedNode> node_times;  // ordered by group rank, spares last
  int64_t nodes_omitted = 0;
  std::vector<RecordedSlowRank> slow_ranks;  // of the newest state

  // Decisions about the health of nodes and machines: failed checks, errors of
  // the hardware, suspicion, quarantine and bans, and how these ended.
  std::vector<ReportNote> health;
  std::vector<ReportNote> stragglers;
  std::vector<ReportNote> notes;  // all decisions
  int64_t notes_dropped = 0;
  std::vector<ReportSample> samples;
  std::vector<std::pair<std::string, std::string>> settings;

  // Content of the journal.
  std::optional<ReportRecord> record;
  std::vector<ReportMachine> machines;
  int64_t machines_omitted = 0;
  double machines_as_of = 0;  // time of the newest entry of the memory

  // Filled in by the driver.
  std::vector<ReportOutput> outputs;
  std::vector<ReportFlight> flights;
  std::vector<ReportSource> sources;
  std::vector<std::string> missing;  // sentences
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
  // Adds the next event; events come in the order of their times. Events that
  // follow the end of the job and begin another run of the same name replace
  // the run (earlier_runs).
  void Add(const RecordedEvent& event);
  RunReport Take();

  // The number of complete runs of this name before the reported one.
  int earlier_runs() const { return earlier_runs_; }

 private:
  void Begin(const RecordedEvent& event);
  void Break(const RecordedEvent& event);
  void AddState(const RecordedEvent& event, const RecordedState& state);
  void AddSample(const RecordedEvent& event, const RecordedProgress& progress);
  ReportRound* Current();

  RunReport report_;
  std::map<int, rendezvous::Incident> incidents_;  // by round
  std::map<std::string, RecordedNode> nodes_;      // by node id
  double sample_distance_s_ = 0;
  int earlier_runs_ = 0;
};

// The ranks whose output explains the run: those that failed, the newest first.
// If the log does not say who failed, and the job has not succeeded, the first
// ranks of the newest round. At most kMaxWantedOutputs. Pure.
std::vector<WantedOutput> WantedOutputs(const RunReport& report);

// The host of a rank in the newest world; empty: unknown. Pure.
std::string HostOfRank(const RunReport& report, int rank);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_RUN_REPORT_RUN_REPORT_H_
