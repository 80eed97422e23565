#ifndef MUSTER_TRAINER_SDK_SESSION_HOST_PLACES_H_
#define MUSTER_TRAINER_SDK_SESSION_HOST_PLACES_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/time.h"
#include "trainer_sdk/store/store.h"

namespace muster {

// The position of one host in the world.
struct HostPlace {
  // index of the host in the order of the hosts' lowest ranks
  int group_rank = 0;
  int group_world_size = 0;  // number of hosts
  int local_world_size = 0;  // number of ranks on this host

  bool operator==(const HostPlace&) const = default;
};

// Returns the position of each host in the world; the key is the host's name.
// `host_of_rank` has the host names, indexed by rank, and must not be empty.
// Pure.
std::map<std::string, HostPlace> PlacesOf(
    const std::vector<std::string>& host_of_rank);

// Returns the position of `host`, on which this rank runs, for launchers that
// do not provide it. Collective and blocking: every rank publishes its host's
// name in the store, and rank 0 computes the positions.
//
// DeadlineExceeded: a rank did not publish its host. On rank 0 the message
// names that rank's key, "host/RANK"; on other ranks it names "place/HOST".
absl::StatusOr<HostPlace> AgreeOnPlaces(Store& store, int rank, int world_size,
                                        const std::string& host,
                                        Instant deadline);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_SESSION_HOST_PLACES_H_
