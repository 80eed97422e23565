#include "trainer_sdk/transports/transport_choice.h"

#include "absl/strings/str_cat.h"

namespace muster {

const char* Name(TransportChoice choice) {
  for (const auto& [known, name] : kTransportNames) {
    if (known == choice) return name;
  }
  return "?";
}

absl::StatusOr<TransportChoice> ParseTransportChoice(const std::string& name) {
  std::string names;
  for (const auto& [choice, known] : kTransportNames) {
    if (name == known) return choice;
    absl::StrAppend(&names, names.empty() ? "" : ", ", known);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("unknown transport '", name, "'; write one of ", names));
}

}  // namespace muster
