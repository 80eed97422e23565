#ifndef MUSTER_TRAINER_SDK_SAFETENSORS_HEADER_READER_H_
#define MUSTER_TRAINER_SDK_SAFETENSORS_HEADER_READER_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "trainer_sdk/safetensors/safetensors_header.h"

namespace muster {

// The JSON of a header as it stands: form, types and names are checked, places
// are not. In one pass, without a tree and without recursion, so that neither
// depth nor size of what comes costs more than the text itself. DataLoss as
// ParseSafetensorsHeader.
absl::StatusOr<SafetensorsHeader> ReadHeaderJson(std::string_view json);

// A name for an error's text: quoted, printable, not endless.
std::string QuotedName(std::string_view name);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_SAFETENSORS_HEADER_READER_H_
