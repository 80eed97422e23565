#ifndef MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_FILES_H_
#define MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_FILES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "trainer_sdk/flight_recorder/flight_ends.h"
#include "trainer_sdk/flight_recorder/flight_log.h"

namespace muster {

// A dump's or ring's bytes. InvalidArgument, one line, for anything else. Pure.
absl::StatusOr<FlightLog> ParseFlight(const std::string& bytes);

struct Flight {
  // One for each rank, by rank: where there are several, the latest.
  std::vector<FlightLog> logs;
  // One for each rank, by rank, of the last round that there is any of: where
  // there are several, the latest.
  std::vector<FlightEnd> ends;
  // Whether the process that writes one of the rings still runs, here or where
  // the file system's locks reach.
  bool running = false;
};

// What `paths` hold: files, or directories whose rank_N.ring, rank_N.json and
// workers.N.json they are. Where there are none, a directory below it that has
// some is named.
//
// InvalidArgument, naming the path: unreadable, larger than 64 MiB, no dump;
// or none at all, or dumps of worlds of different sizes or beyond a million
// ranks.
absl::StatusOr<Flight> ReadFlight(const std::vector<std::string>& paths);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_FILES_H_
