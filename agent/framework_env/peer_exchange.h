#ifndef MUSTER_AGENT_FRAMEWORK_ENV_PEER_EXCHANGE_H_
#define MUSTER_AGENT_FRAMEWORK_ENV_PEER_EXCHANGE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/time.h"

namespace muster::agent {

// The key-value store of a round, in which workers exchange addresses, and the
// rank of this worker.
struct PeerMeeting {
  std::string host;  // address of the round's store
  int port = 0;
  int rank = 0;
  int world_size = 1;
  Instant deadline;
};

// Publishes the text `own` (at most 300 bytes) of this rank under `topic`.
// Waits for the texts of the ranks below `wanted`, and returns these texts in
// the order of the ranks. Needs two round trips for any world size.
//
// DeadlineExceeded: names the ranks that have published nothing. Unavailable:
// the store cannot be reached. FailedPrecondition: the server is not a store.
// InvalidArgument: `own` is empty or too long, or `wanted` exceeds the store's
// limit of keys.
absl::StatusOr<std::vector<std::string>> ExchangeAddresses(
    const PeerMeeting& meeting, const std::string& topic,
    const std::string& own, int wanted);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_FRAMEWORK_ENV_PEER_EXCHANGE_H_
