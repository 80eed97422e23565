#ifndef MUSTER_TRAINER_SDK_TRANSPORTS_SESSION_WORLD_H_
#define MUSTER_TRAINER_SDK_TRANSPORTS_SESSION_WORLD_H_

#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "trainer_sdk/process_group/process_group.h"
#include "trainer_sdk/session/session.h"
#include "trainer_sdk/transports/new_transport.h"
#include "trainer_sdk/transports/transport_choice.h"

namespace muster {

// Makes the process group "world" of all ranks of the session. By default, the
// group uses the transport that suits the ranks' hosts. Collective and
// blocking; the session must outlive the group. Use ProcessGroup::Split for
// groups of some of the ranks. If the group breaks, all ranks may call NewWorld
// again. Errors are those of NewProcessGroup.
inline absl::StatusOr<std::unique_ptr<ProcessGroup>> NewWorld(
    Session& session, TransportChoice choice = TransportChoice::kAutomatic,
    ProcessGroupOptions options = {}) {
  GroupPlace place;
  place.rank = session.rank();
  place.size = session.world_size();
  place.store = session.store();
  place.name = "world";
  return NewProcessGroup(std::move(place), choice, std::move(options));
}

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_TRANSPORTS_SESSION_WORLD_H_
