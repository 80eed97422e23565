#ifndef MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_FILES_H_
#define MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_FILES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "trainer_sdk/flight_recorder/flight_log.h"

namespace muster {

// Formats a log as JSON for people and other tools, one record per line. Pure.
std::string FlightJson(const FlightLog& log);

// Parses the output of FlightJson. Any other text gives InvalidArgument with a
// message of one line. Safe for any text of bounded length.
absl::StatusOr<FlightLog> ParseFlightJson(const std::string& text);

// Parses a dump or a ring. Any other input gives InvalidArgument with a message
// of one line. Pure.
absl::StatusOr<FlightLog> ParseFlight(const std::string& bytes);

struct Flight {
  // One log per rank, ordered by rank; the latest log if a rank has several.
  std::vector<FlightLog> logs;
  // The ends of the ranks' processes in the last round that has any: one per
  // rank, ordered by rank; the latest if a rank has several.
  std::vector<FlightEnd> ends;
  // Whether a process that writes one of the rings still runs, on this host or
  // on a host whose file locks are visible here.
  bool running = false;
};

// Reads flight recorder files. `paths` are files, or directories with
// rank_N.ring, rank_N.json and workers.N.json. If a directory has none, the
// error names a subdirectory that has some.
//
// InvalidArgument, with the path: a file is unreadable, larger than 64 MiB or
// not a dump; there is no dump at all; or dumps are of worlds of different
// sizes, or of more than a million ranks.
absl::StatusOr<Flight> ReadFlight(const std::vector<std::string>& paths);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_FILES_H_
