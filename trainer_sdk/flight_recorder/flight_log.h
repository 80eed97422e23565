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

// One operation of one rank. Times are seconds since 1970 (UTC); 0: not
// reached.
struct FlightRecord {
  uint64_t number = 0;  // counts the rank's operations in all groups, from 1
  int group = 0;        // index in FlightLog::groups
  OperationSignature signature;
  // BatchPeersOf the operation, as ranks in the group.
  std::vector<int> peers;
  int64_t bytes = 0;
  double queued = 0;
  double started = 0;
  double ended = 0;
  absl::StatusCode status = absl::StatusCode::kOk;  // valid once it has ended

  bool in_progress() const { return started != 0 && ended == 0; }
};

struct FlightGroup {
  std::string name;
  int rank = 0;  // this rank's rank in it
  int size = 1;
  // world ranks, by rank in the group; empty: too many to store
  std::vector<int> members;
  // Distinguishes groups of one name, equally on every rank
  // (GroupPlace::birth).
  uint64_t birth = 0;
  double made = 0;
};

// The content of one rank's recorder.
struct FlightLog {
  int rank = 0;
  int world_size = 1;
  std::string host;
  int64_t pid = 0;
  // The failure, unless its group has been made again since. Empty: none, or
  // the process was killed before it recorded one.
  std::string reason;
  // The reason for a dump without a failure; empty: none was requested.
  std::string request;
  // Whether the process ended normally.
  bool closed = false;
  double written = 0;  // time of the last record; seconds since 1970 (UTC)
  std::vector<FlightGroup> groups;    // in order of creation
  std::vector<FlightRecord> records;  // the last operations, oldest first
};

// Matches groups across the logs of several ranks. Pure.

// Identifies a group. The name alone is not enough: a group that broke is made
// again under its name, and two splits may use one label.
struct FlightGroupKey {
  std::string name;
  std::vector<int> members;
  uint64_t birth = 0;
  int nth = 1;  // counts groups in one log that are equal in all of the above

  // Clang 14's tidy takes the comparison with 0 for one with a pointer.
  // NOLINTNEXTLINE(modernize-use-nullptr)
  friend auto operator<=>(const FlightGroupKey&,
                          const FlightGroupKey&) = default;
};

// The keys of log.groups, in the same order.
std::vector<FlightGroupKey> KeysOf(const FlightLog& log);

// Whether the group log.groups[group], or a group that it was split from, was
// made again at `since` or later, so that its end does not matter any more.
bool WasMadeAgain(const FlightLog& log, int group, double since);

// "world"; "world (no. 2)" for the second group with that name and members in
// the log.
std::string FlightGroupLabel(const FlightLog& log, int group);

enum class HowEnded {
  kKilled,      // by a signal not sent by its agent
  kExited,      // with a nonzero exit code
  kHung,        // silent for too long, so its agent killed it
  kNotStarted,  // its program did not start
  kStopped,     // by its agent, because of another rank's end
};

// How one rank's process ended, as seen by its node's agent. A killed process
// cannot record that itself.
struct FlightEnd {
  int rank = 0;
  std::string host;
  int64_t pid = 0;
  HowEnded how = HowEnded::kExited;
  double time = 0;      // seconds since 1970 (UTC), by the node's clock
  std::string message;  // "killed by SIGKILL (9)"; one line
};

// The content of one node's "workers.N.json": the ends of its workers in a
// round that broke, in the order in which the agent saw them.
struct FlightEnds {
  int round = 0;
  int world_size = 1;
  std::vector<FlightEnd> ends;
};

// Whether `bytes` begin like such a file.
bool AreFlightEnds(const std::string& bytes);

// Parses an agent's file (agent/failures/round_records.h). InvalidArgument, one
// line, for anything else; safe for any text of bounded length. Pure.
absl::StatusOr<FlightEnds> ParseFlightEnds(const std::string& text);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_LOG_H_
