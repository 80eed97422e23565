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
};

// What one rank's recorder holds.
struct FlightLog {
  int rank = 0;
  int world_size = 1;
  std::string host;
  int64_t pid = 0;
  // Why it was written; empty for the file of a process that said nothing: it
  // was killed, or runs on.
  std::string reason;
  // Whether the process ended in an orderly way.
  bool closed = false;
  double written = 0;  // seconds since 1970; of the last thing recorded
  std::vector<FlightGroup> groups;
  std::vector<FlightRecord> records;  // the last ones, oldest first
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_LOG_H_
