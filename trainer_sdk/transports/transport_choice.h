#ifndef MUSTER_TRAINER_SDK_TRANSPORTS_TRANSPORT_CHOICE_H_
#define MUSTER_TRAINER_SDK_TRANSPORTS_TRANSPORT_CHOICE_H_

#include <string>
#include <utility>

#include "absl/status/statusor.h"

namespace muster {

// The transport of a group. Automatic means local for a group of one rank, else
// hierarchical: shared memory on one host, and only the network if no two ranks
// share a host.
enum class TransportChoice {
  kAutomatic,
  kLocal,
  kSharedMemory,
  kTcp,
  kGloo,
  kHierarchical,      // network part over TCP
  kHierarchicalGloo,  // network part over Gloo
  kNccl,
};

// Every choice with its name, in the order of messages.
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

// Convert to and from these names. InvalidArgument lists them.
const char* Name(TransportChoice choice);
absl::StatusOr<TransportChoice> ParseTransportChoice(const std::string& name);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_TRANSPORTS_TRANSPORT_CHOICE_H_
