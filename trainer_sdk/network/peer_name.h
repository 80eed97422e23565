#ifndef MUSTER_TRAINER_SDK_NETWORK_PEER_NAME_H_
#define MUSTER_TRAINER_SDK_NETWORK_PEER_NAME_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace muster {

// The name of a rank in messages.
struct PeerName {
  int rank = 0;
  std::string host;
  int64_t pid = 0;
};

// The name of this process as `rank`.
PeerName OwnName(int rank);

// "rank 3 (host node7, pid 4711)".
std::string Describe(const PeerName& name);

// The form in the store, "PID HOST". Decoding any other text gives
// InvalidArgument.
std::string Encoded(const PeerName& name);
absl::StatusOr<PeerName> DecodePeerName(int rank, const std::string& text);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_NETWORK_PEER_NAME_H_
