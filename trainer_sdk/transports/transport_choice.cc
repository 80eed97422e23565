#include "trainer_sdk/transports/transport_choice.h"

#include "absl/strings/str_cat.h"

namespace muster {
namespace {

constexpr TransportChoice kAll[] = {
    TransportChoice::kAutomatic,
    TransportChoice::kLocal,
    TransportChoice::kSharedMemory,
    TransportChoice::kTcp,
    TransportChoice::kGloo,
    TransportChoice::kHierarchical,
    TransportChoice::kHierarchicalGloo,
    TransportChoice::kNccl,
};

}  // namespace

const char* Name(TransportChoice choice) {
  switch (choice) {
    case TransportChoice::kAutomatic:
      return "auto";
    case TransportChoice::kLocal:
      return "local";
    case TransportChoice::kSharedMemory:
      return "shm";
    case TransportChoice::kTcp:
      return "tcp";
    case TransportChoice::kGloo:
      return "gloo";
    case TransportChoice::kHierarchical:
      return "hierarchical";
    case TransportChoice::kHierarchicalGloo:
      return "hierarchical-gloo";
    case TransportChoice::kNccl:
      return "nccl";
  }
  return "?";
}

absl::StatusOr<TransportChoice> ParseTransportChoice(const std::string& name) {
  std::string names;
  for (const TransportChoice choice : kAll) {
    if (name == Name(choice)) return choice;
    absl::StrAppend(&names, names.empty() ? "" : ", ", Name(choice));
  }
  return absl::InvalidArgumentError(
      absl::StrCat("unknown transport '", name, "'; write one of ", names));
}

}  // namespace muster
