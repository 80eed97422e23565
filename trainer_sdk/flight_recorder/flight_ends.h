#ifndef MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_ENDS_H_
#define MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_ENDS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace muster {

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

// Parses an agent's file (agent/failures/worker_ends.h). InvalidArgument, one
// line, for anything else; safe for any text of bounded length. Pure.
absl::StatusOr<FlightEnds> ParseFlightEnds(const std::string& text);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_ENDS_H_
