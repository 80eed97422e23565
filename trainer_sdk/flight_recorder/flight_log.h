#ifndef MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_LOG_H_
#define MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_LOG_H_

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer_sdk/process_group/signature.h"

namespace muster {

// One operation of one rank. Times are in seconds since 1970 (UTC); 0: the
// operation has not got that far.
struct FlightRecord {
  // number of the operation among all operations of the rank, from 1
  uint64_t number = 0;
  int group = 0;  // index in FlightLog::groups
  OperationSignature signature;
  // BatchPeersOf the operation: the peers' ranks in the group.
  std::vector<int> peers;
  int64_t bytes = 0;
  double queued = 0;
  double started = 0;
  double ended = 0;
  // valid once the operation has ended
  absl::StatusCode status = absl::StatusCode::kOk;

  bool in_progress() const { return started != 0 && ended == 0; }
};

struct FlightGroup {
  std::string name;
  int rank = 0;  // this rank's rank in the group
  int size = 1;
  // world ranks of the members, indexed by rank in the group; empty: too many
  // members to store
  std::vector<int> members;
  // Distinguishes groups of one name; equal on every rank (GroupPlace::birth).
  uint64_t birth = 0;
  double made = 0;
};

// The content of one rank's recorder.
struct FlightLog {
  int rank = 0;
  int world_size = 1;
  std::string host;
  int64_t pid = 0;
  // The first failure of a group that has not been made again since. Empty:
  // there was no failure, or the process was killed before it recorded one.
  std::string reason;
  // The reason for a dump without a failure; empty: none was requested.
  std::string request;
  // Whether the process ended normally.
  bool closed = false;
  double written = 0;  // time of the last record; seconds since 1970 (UTC)
  std::vector<FlightGroup> groups;    // groups in the order of their creation
  std::vector<FlightRecord> records;  // the last operations, oldest first
};

// Matches groups across the logs of several ranks. Pure.

// Identifies a group. The name alone is not enough: a group that broke is made
// again under its name, and two splits may use one label.
struct FlightGroupKey {
  std::string name;
  std::vector<int> members;
  uint64_t birth = 0;
  // counts the groups of one log that are equal in all fields above
  int nth = 1;

  // Clang 14's tidy takes the comparison with 0 for one with a pointer.
  // NOLINTNEXTLINE(modernize-use-nullptr)
  friend auto operator<=>(const FlightGroupKey&,
                          const FlightGroupKey&) = default;
};

// The keys of log.groups, in the same order.
std::vector<FlightGroupKey> KeysOf(const FlightLog& log);

// Whether the group log.groups[group], or a group that it was split from, was
// made again at time `since` or later. If so, the end of the old group no
// longer matters.
bool WasMadeAgain(const FlightLog& log, int group, double since);

// The name of a group in messages: "world"; "world (no. 2)" for the second
// group with that name and members in the log.
std::string FlightGroupLabel(const FlightLog& log, int group);

enum class HowEnded {
  kKilled,      // ended by a signal that its agent did not send
  kExited,      // ended with a nonzero exit code
  kHung,        // killed by its agent, because it was silent for too long
  kNotStarted,  // its program did not start
  kStopped,  // stopped by its agent, because another rank's process had ended
};

// How one rank's process ended, as seen by its node's agent. The process itself
// cannot record that it was killed.
struct FlightEnd {
  int rank = 0;
  std::string host;
  int64_t pid = 0;
  HowEnded how = HowEnded::kExited;
  double time = 0;      // seconds since 1970 (UTC), by the node's clock
  std::string message;  // one line: "killed by SIGKILL (9)"
};

// The content of one node's "workers.N.json": the ends of its workers in a
// round that broke, in the order in which the agent saw them.
struct FlightEnds {
  int round = 0;
  int world_size = 1;
  std::vector<FlightEnd> ends;
};

// Whether `bytes` begins like a "workers.N.json" file.
bool AreFlightEnds(const std::string& bytes);

// Parses the file that an agent writes (agent/failures/round_records.h). Any
// other text gives InvalidArgument with a message of one line. Safe for any
// text of bounded length. Pure.
absl::StatusOr<FlightEnds> ParseFlightEnds(const std::string& text);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_LOG_H_
