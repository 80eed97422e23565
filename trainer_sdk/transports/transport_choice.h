#ifndef MUSTER_TRAINER_SDK_TRANSPORTS_TRANSPORT_CHOICE_H_
#define MUSTER_TRAINER_SDK_TRANSPORTS_TRANSPORT_CHOICE_H_

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

namespace muster {

// The transport of a group. kAutomatic means "local" for a group of one rank,
// otherwise "hierarchical": shared memory within a host, and the network
// between hosts.
enum class TransportChoice {
  kAutomatic,
  kLocal,
  kSharedMemory,
  kTcp,
  kGloo,
  kHierarchical,      // shared memory within a host, TCP between hosts
  kHierarchicalGloo,  // shared memory within a host, Gloo between hosts
  kNccl,
};

// Each choice and its name, in the order in which messages list them.
inline constexpr std::pair<TransportChoice, const char*> kTransportNames[] = {
    {TransportChoice::kAutomatic, "auto"},
    {TransportChoice::kLocal, "local"},
    {TransportChoice::kSharedMemory, "shm"},
    {TransportChoice::kTcp, "tcp"},
    {TransportChoice::kGloo, "gloo"},
    {TransportChoice::kHierarchical, "hierarchical"},
    {TransportChoice::kHierarchicalGloo, "hierarchical-gloo"},
    {TransportChoice::kNccl, "nccl"},
};

// Name returns the name of a choice, and ParseTransportChoice the choice with a
// given name. InvalidArgument: there is no such name; the message lists the
// names.
inline const char* Name(TransportChoice choice) {
  for (const auto& [known, name] : kTransportNames) {
    if (known == choice) return name;
  }
  return "?";
}

inline absl::StatusOr<TransportChoice> ParseTransportChoice(
    const std::string& name) {
  std::string names;
  for (const auto& [choice, known] : kTransportNames) {
    if (name == known) return choice;
    absl::StrAppend(&names, names.empty() ? "" : ", ", known);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("unknown transport '", name, "'; write one of ", names));
}

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_TRANSPORTS_TRANSPORT_CHOICE_H_
