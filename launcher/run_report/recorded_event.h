#ifndef MUSTER_LAUNCHER_RUN_REPORT_RECORDED_EVENT_H_
#define MUSTER_LAUNCHER_RUN_REPORT_RECORDED_EVENT_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rendezvous/protocol/failure.h"
#include "rendezvous/protocol/time_ledger.h"

namespace muster::launcher {

// This header reads the lines of an event log (rendezvous/events/event_log.h).
// The file may come from another machine or another version, or from a
// malicious user: every text and list is cut to a bound, numbers that do not
// fit count as absent, and unknown fields are ignored.

inline constexpr size_t kMaxEventLineBytes = 1 << 20;

// A node in an event of the kind "state", which describes a whole job.
struct RecordedNode {
  std::string node_id;
  std::string host;
  // the node's group rank; nullopt: the node is a spare
  std::optional<int> group_rank;
  std::optional<int> first_rank;
  int slots = 0;
  // the findings of a failed health check; empty: no check failed
  std::string unhealthy;
  // Seconds that the node spent on each activity; the index is the number of a
  // rendezvous::Activity.
  std::array<double, rendezvous::kActivities> spent_s = {};
};

struct RecordedProgress {
  int ranks = 0;  // number of ranks that report progress
  std::optional<int64_t> least_step;
  std::optional<int64_t> max_step;
  // mean of the ranks' losses; may be NaN or infinite
  std::optional<double> loss;
  // tokens per second of all ranks together; 0: not reported
  double tokens_per_s = 0;
};

struct RecordedVerdict {
  std::string outcome;  // "succeeded", "failed", …
  int exit_code = 0;
  std::string reason;
  double lasted_s = 0;
  int rounds = 0;
  int restarts_used = 0;
};

struct RecordedSlowRank {
  int rank = 0;
  std::string host;
  std::string gpu;  // empty: unknown
  // the part of a step in which the rank is slow: "compute", "data" or
  // "network"
  std::string phase;
  double ratio = 0;
};

struct RecordedState {
  std::string phase;
  double age_s = 0;
  int world_size = 0;
  int restarts_used = 0;
  int max_restarts = 0;
  std::optional<RecordedProgress> progress;
  rendezvous::JobTime time;
  std::vector<RecordedSlowRank> slow_ranks;
  std::optional<RecordedVerdict> verdict;
  // The names and values of the job's settings; empty: the event has none.
  std::vector<std::pair<std::string, std::string>> settings;
  // The job's nodes; nullopt: the event has no list of nodes.
  std::optional<std::vector<RecordedNode>> nodes;
  int64_t nodes_omitted = 0;
};

struct RecordedEvent {
  double time = 0;  // time of the event in seconds since 1970
  std::string run_id;
  int round = 0;
  std::string kind;
  // id of the node that the event is about; empty: the whole job
  std::string node;
  std::string reason;
  std::optional<rendezvous::Failure> failure;
  // the job's state, in events of the kind "state" only
  std::optional<RecordedState> state;
};

// Parses one line. nullopt: the line is not an event, or is longer than
// kMaxEventLineBytes. Pure.
std::optional<RecordedEvent> ParseEvent(std::string_view line);

// Parses the time of an event ("2026-03-01T14:05:09.250Z") as seconds since
// 1970; nullopt: `text` is not such a time. Pure.
std::optional<double> ParseIsoTime(std::string_view text);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_RUN_REPORT_RECORDED_EVENT_H_
