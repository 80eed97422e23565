#ifndef MUSTER_AGENT_FRAMEWORK_ENV_PEER_EXCHANGE_H_
#define MUSTER_AGENT_FRAMEWORK_ENV_PEER_EXCHANGE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/time.h"

namespace muster::agent {

// Where the workers of a round meet, and who asks.
struct PeerMeeting {
  std::string host;  // the round's store
  int port = 0;
  int rank = 0;
  int world_size = 1;
  Instant deadline;
};

// Tells every rank of the round `own` (at most 300 bytes) under `topic`, and
// waits for what
// the `wanted` first ranks tell: in the order of the ranks. Two round trips,
// whatever the world's size.
//
// DeadlineExceeded: names the ranks that have told nothing.
// Unavailable, FailedPrecondition: the store cannot be reached, or is none.
absl::StatusOr<std::vector<std::string>> ExchangeAddresses(
    const PeerMeeting& meeting, const std::string& topic,
    const std::string& own, int wanted);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_FRAMEWORK_ENV_PEER_EXCHANGE_H_
