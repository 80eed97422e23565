#ifndef MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_ENDS_H_
#define MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_ENDS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace muster {

enum class HowEnded {
  kKilled,      // by a signal that its agent did not send
  kExited,      // with a code other than 0
  kHung,        // silent for too long; then its agent killed it
  kNotStarted,  // its program never ran
  kStopped,     // by its agent, for what had happened to another
};

// How one rank's process ended, as its node's agent saw it: what a process that
// was killed cannot tell itself.
struct FlightEnd {
  int rank = 0;
  std::string host;
  int64_t pid = 0;
  HowEnded how = HowEnded::kExited;
  double time = 0;      // seconds since 1970, by the node's clock
  std::string message;  // "killed by SIGKILL (9)"; one line
};

// One node's "workers.N.json": the ends of its workers in a round that broke,
// in the order in which it saw them.
struct FlightEnds {
  int round = 0;
  int world_size = 1;
  std::vector<FlightEnd> ends;
};

// Whether `bytes` begin as an agent's file does.
bool AreFlightEnds(const std::string& bytes);

// What an agent wrote (agent/failures/worker_ends.h). InvalidArgument, one
// line, for anything else; safe for any text of bounded length. Pure.
absl::StatusOr<FlightEnds> ParseFlightEnds(const std::string& text);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_ENDS_H_
