#ifndef MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_JSON_H_
#define MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_JSON_H_

#include <string>

#include "absl/status/statusor.h"
#include "trainer_sdk/flight_recorder/flight_log.h"

namespace muster {

// A log as JSON, for people and other tools; one record a line. Pure.
std::string FlightJson(const FlightLog& log);

// What FlightJson wrote. InvalidArgument, one line, for anything else; safe
// for any text of bounded length.
absl::StatusOr<FlightLog> ParseFlightJson(const std::string& text);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_JSON_H_
