#ifndef MUSTER_TRAINER_SDK_SESSION_HOST_PLACES_H_
#define MUSTER_TRAINER_SDK_SESSION_HOST_PLACES_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/time.h"
#include "trainer_sdk/store/store.h"

namespace muster {

// One host's place in a world.
struct HostPlace {
  int group_rank = 0;        // in the order of the hosts' lowest ranks
  int group_world_size = 0;  // how many hosts
  int local_world_size = 0;  // how many ranks are on it

  bool operator==(const HostPlace&) const = default;
};

// The hosts' places, by name. `host_of_rank` is not empty. Pure.
std::map<std::string, HostPlace> PlacesOf(
    const std::vector<std::string>& host_of_rank);

// The place of `host`, which this rank is on. Collective: every rank of the
// world tells its own host's name through the store, rank 0 makes the places
// out of them. For launchers that do not tell.
//
// DeadlineExceeded: a rank has not come; it is named by its key, "host/RANK".
absl::StatusOr<HostPlace> AgreeOnPlaces(Store& store, int rank, int world_size,
                                        const std::string& host,
                                        Instant deadline);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_SESSION_HOST_PLACES_H_
