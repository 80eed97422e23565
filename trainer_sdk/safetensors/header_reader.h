#ifndef MUSTER_TRAINER_SDK_SAFETENSORS_HEADER_READER_H_
#define MUSTER_TRAINER_SDK_SAFETENSORS_HEADER_READER_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "trainer_sdk/safetensors/safetensors_header.h"

namespace muster {

// Parses the JSON of a header: checks form, types and names, but not offsets.
// One pass, without a tree and without recursion, so that neither depth nor
// size of the input needs more than linear memory. DataLoss as
// ParseSafetensorsHeader.
absl::StatusOr<SafetensorsHeader> ReadHeaderJson(std::string_view json);

// A name for error messages: quoted, printable, limited in length.
std::string QuotedName(std::string_view name);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_SAFETENSORS_HEADER_READER_H_
