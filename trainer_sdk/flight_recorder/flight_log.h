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

// A record of one operation of one rank. Times (queued, started, ended) are in
// seconds since 1970 (UTC). A time is 0 if the operation has not reached that
// stage.
struct FlightRecord {
  // number of the operation among all operations of this process, from 1
  uint64_t number = 0;
  int group = 0;  // index of the operation's group in FlightLog::groups
  OperationSignature signature;
  // For a batch of sends and receives: the ranks of its peers in the group;
  // empty if there are more than eight (see BatchPeersOf).
  std::vector<int> peers;
  int64_t bytes = 0;
  double queued = 0;
  double started = 0;
  double ended = 0;
  // result of the operation; valid once the operation has ended
  absl::StatusCode status = absl::StatusCode::kOk;

  bool in_progress() const { return started != 0 && ended == 0; }
};

struct FlightGroup {
  std::string name;
  int rank = 0;  // rank of this process in the group
  int size = 1;
  // world ranks of the members, indexed by rank in the group; empty: too many
  // members to store
  std::vector<int> members;
  // A number that distinguishes groups that are created one after another with
  // the same name; equal on every rank (see GroupPlace::birth).
  uint64_t birth = 0;
  double made = 0;
};

// The content of one rank's flight recorder.
struct FlightLog {
  int rank = 0;
  int world_size = 1;
  std::string host;
  int64_t pid = 0;
  // The reason for the first failure of a group. Empty if no group failed, or
  // if the process was killed before it recorded a reason. Also empty if the
  // failed group, or a group from which it was split, was created again later.
  std::string reason;
  // The reason for a dump that was requested without a failure; empty: no dump
  // was requested.
  std::string request;
  // Whether the process exited normally.
  bool closed = false;
  // The newest time in `groups` and `records`; seconds since 1970 (UTC).
  double written = 0;
  std::vector<FlightGroup> groups;    // the rank's groups, in order of creation
  std::vector<FlightRecord> records;  // the last operations, oldest first
};

// Identifies a group across the logs of several ranks. The name alone is not
// enough: a group that broke is created again under its name, and two splits
// may use the same label.
struct FlightGroupKey {
  std::string name;
  std::vector<int> members;
  uint64_t birth = 0;
  // Number of this group among the groups of one log that have the same `name`,
  // `members` and `birth` (FlightGroup::birth); from 1, in order of creation.
  int nth = 1;

  // clang-tidy 14 mistakes the comparison with 0 for one with a null pointer.
  // NOLINTNEXTLINE(modernize-use-nullptr)
  friend auto operator<=>(const FlightGroupKey&,
                          const FlightGroupKey&) = default;
};

// The keys of log.groups, in the same order. Pure.
std::vector<FlightGroupKey> KeysOf(const FlightLog& log);

// Whether the group with index `group` in log.groups, or a group from which it
// was split, was created again at time `since` (seconds since 1970) or later.
// If so, an earlier failure of the group no longer matters.
bool WasMadeAgain(const FlightLog& log, int group, double since);

// Returns the name of a group for messages: "world"; "world (no. 2)" for the
// second group in the log with the same name and members.
std::string FlightGroupLabel(const FlightLog& log, int group);

enum class HowEnded {
  // The process was killed by a signal that its agent did not send.
  kKilled,
  // The process exited with a nonzero exit code.
  kExited,
  // The agent killed the process, because it was silent for too long.
  kHung,
  // The agent could not start the program of the process.
  kNotStarted,
  // The agent stopped the process, because another rank's process had ended.
  kStopped,
};

// How one rank's process ended, as seen by its node's agent. The process itself
// cannot record that it was killed.
struct FlightEnd {
  int rank = 0;
  std::string host;
  int64_t pid = 0;
  HowEnded how = HowEnded::kExited;
  // time of the end in seconds since 1970 (UTC), by the node's clock
  double time = 0;
  std::string message;  // description in one line: "killed by SIGKILL (9)"
};

// The content of one node's file "workers.N.json": how its workers ended in a
// round that broke, in the order in which the agent noticed the ends.
struct FlightEnds {
  int round = 0;
  int world_size = 1;
  std::vector<FlightEnd> ends;
};

// Whether `bytes` begins like the content of a "workers.N.json" file.
bool AreFlightEnds(const std::string& bytes);

// Parses a "workers.N.json" file, which an agent writes
// (agent/failures/round_records.h). InvalidArgument: any other text; the
// message is one line. Safe for untrusted text of bounded length. Pure.
absl::StatusOr<FlightEnds> ParseFlightEnds(const std::string& text);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_LOG_H_
