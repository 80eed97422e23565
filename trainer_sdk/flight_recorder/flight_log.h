#ifndef MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_LOG_H_
#define MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_LOG_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "trainer_sdk/process_group/signature.h"

namespace muster {

// One operation of one rank. Times are seconds since 1970 (UTC); 0: not yet.
struct FlightRecord {
  uint64_t number = 0;  // counts the rank's operations of all groups from 1
  int group = 0;        // in FlightLog::groups
  OperationSignature signature;
  // BatchPeersOf the operation, by rank in the group.
  std::vector<int> peers;
  int64_t bytes = 0;
  double queued = 0;
  double started = 0;
  double ended = 0;
  absl::StatusCode status = absl::StatusCode::kOk;  // once it has ended

  bool in_progress() const { return started != 0 && ended == 0; }
};

struct FlightGroup {
  std::string name;
  int rank = 0;  // this one's place in it
  int size = 1;
  std::vector<int> members;  // world ranks, by rank in the group; empty: too
                             // many to be told
  // Tells groups of one name apart, alike on every rank (GroupPlace::birth).
  uint64_t birth = 0;
  double made = 0;
};

// What one rank's recorder holds.
struct FlightLog {
  int rank = 0;
  int world_size = 1;
  std::string host;
  int64_t pid = 0;
  // What failed, unless its group has been made again since. Empty: nothing, or
  // the process was killed before it could say so.
  std::string reason;
  // Why a dump was asked for though nothing had failed; empty: none was.
  std::string request;
  // Whether the process ended in an orderly way.
  bool closed = false;
  double written = 0;  // seconds since 1970; of the last thing recorded
  std::vector<FlightGroup> groups;    // in the order in which they were made
  std::vector<FlightRecord> records;  // the last ones, oldest first
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_LOG_H_
