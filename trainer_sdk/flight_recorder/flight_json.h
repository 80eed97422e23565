#ifndef MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_JSON_H_
#define MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_JSON_H_

#include <string>

#include "absl/status/statusor.h"
#include "trainer_sdk/flight_recorder/flight_log.h"

namespace muster {

// Formats a log as JSON for people and other tools, one record per line. Pure.
std::string FlightJson(const FlightLog& log);

// Parses the output of FlightJson. InvalidArgument, one line, for anything
// else; safe for any text of bounded length.
absl::StatusOr<FlightLog> ParseFlightJson(const std::string& text);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_JSON_H_
