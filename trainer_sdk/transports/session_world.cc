#include "trainer_sdk/transports/session_world.h"

#include "trainer_sdk/store/prefix_store.h"
#include "trainer_sdk/transports/new_transport.h"

namespace muster {

absl::StatusOr<std::unique_ptr<ProcessGroup>> NewWorld(Session& session) {
  GroupPlace place;
  place.rank = session.rank();
  place.size = session.world_size();
  place.store = std::make_shared<PrefixStore>("world", session.store());
  place.name = "world";
  return NewProcessGroup(place, TransportChoice::kAutomatic);
}

}  // namespace muster
