#ifndef MUSTER_TRAINER_SDK_TRANSPORTS_TRANSPORT_CHOICE_H_
#define MUSTER_TRAINER_SDK_TRANSPORTS_TRANSPORT_CHOICE_H_

#include <string>

#include "absl/status/statusor.h"

namespace muster {

// What carries a group's data. Automatic: local for a group of one, else
// hierarchical, which is shared memory on one host and the network alone where
// no ranks share one.
enum class TransportChoice {
  kAutomatic,
  kLocal,
  kSharedMemory,
  kTcp,
  kGloo,
  kHierarchical,      // over TCP
  kHierarchicalGloo,  // over Gloo
  kNccl,
};

// "auto", "local", "shm", "tcp", "gloo", "hierarchical", "hierarchical-gloo",
// "nccl", and back.
// InvalidArgument lists them.
const char* Name(TransportChoice choice);
absl::StatusOr<TransportChoice> ParseTransportChoice(const std::string& name);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_TRANSPORTS_TRANSPORT_CHOICE_H_
