#include "trainer_sdk/transports/session_world.h"

#include <utility>

#include "trainer_sdk/transports/new_transport.h"

namespace muster {

absl::StatusOr<std::unique_ptr<ProcessGroup>> NewWorld(
    Session& session, TransportChoice choice, ProcessGroupOptions options) {
  GroupPlace place;
  place.rank = session.rank();
  place.size = session.world_size();
  place.store = session.store();
  place.name = "world";
  return NewProcessGroup(std::move(place), choice, std::move(options));
}

}  // namespace muster
