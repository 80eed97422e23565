#ifndef MUSTER_TRAINER_SDK_FLIGHT_RECORDER_PICKLE_VALUE_H_
#define MUSTER_TRAINER_SDK_FLIGHT_RECORDER_PICKLE_VALUE_H_

#include <nlohmann/json.hpp>
#include <string_view>

#include "absl/status/statusor.h"

namespace muster {

// Parses a pickle of Python, protocol 2 to 5. It may contain None, booleans,
// integers of at most 64 bits, floats, strings, lists, tuples, and dictionaries
// whose keys are strings or integers. Tuples become arrays; keys become
// strings. Never executes code.
//
// InvalidArgument: the bytes are no pickle, are cut off, are followed by other
// bytes, nest deeper than 64 levels, or contain another type. Opcodes with
// which a pickle calls Python functions are named in the message. Memory is
// bounded by a small multiple of the size of `bytes`, plus 64 MiB. Pure.
absl::StatusOr<nlohmann::json> ParsePickle(std::string_view bytes);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_FLIGHT_RECORDER_PICKLE_VALUE_H_
