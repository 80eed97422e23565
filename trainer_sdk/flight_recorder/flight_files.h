#ifndef MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_FILES_H_
#define MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_FILES_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "trainer_sdk/flight_recorder/flight_log.h"

namespace muster {

// Formats a log as JSON, one record per line, for people and other tools. Pure.
std::string FlightJson(const FlightLog& log);

// Parses the output of FlightJson. InvalidArgument: any other text; the message
// is one line. Safe for untrusted text of bounded length.
absl::StatusOr<FlightLog> ParseFlightJson(const std::string& text);

// Parses the bytes of a dump file (JSON) or a ring file. InvalidArgument: any
// other input; the message is one line. Pure.
absl::StatusOr<FlightLog> ParseFlight(const std::string& bytes);

struct Flight {
  // The latest log of each rank, ordered by rank.
  std::vector<FlightLog> logs;
  // How the ranks' processes ended in the newest round that a file
  // workers.N.json describes. One entry per rank, ordered by rank. If a rank
  // has several ends, the entry is its latest one.
  std::vector<FlightEnd> ends;
  // Whether a process that writes one of the ring files is still running. The
  // process may be on this host, or on a host whose file locks are visible
  // here.
  bool running = false;
  // The time at which the newest of PyTorch's dumps was written, in seconds
  // since 1970 (UTC). It is the file's modification time, because dumps do not
  // contain their time. nullopt: no file is a dump of PyTorch.
  std::optional<double> dumped;
  // PyTorch's dumps that cannot be read, one line each, with the path. A dump
  // may be cut off because its process was killed.
  std::vector<std::string> unreadable;
};

// Reads flight recorder files. Each of `paths` is a file or a directory. From a
// directory, reads rank_N.ring, rank_N.json, workers.N.json, and PyTorch's
// dumps, whose names end with rank_N. If a directory has no such file, the
// error names a subdirectory that has some.
//
// InvalidArgument: a file is unreadable, larger than 64 MiB or not a dump
// (PyTorch's unreadable dumps are listed in Flight::unreadable instead); there
// is no dump at all; or dumps are of worlds of different sizes, or of more than
// a million ranks. The message names the path.
absl::StatusOr<Flight> ReadFlight(const std::vector<std::string>& paths);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_FILES_H_
