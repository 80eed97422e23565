#include "trainer_sdk/process_group/form_transport.h"

#include <utility>

#include "trainer_sdk/process_group/formation.h"
#include "trainer_sdk/process_group/forming_store.h"

namespace muster {

absl::StatusOr<std::unique_ptr<Transport>> FormTransport(
    const TransportFactory& factory, GroupPlace place, Instant deadline) {
  if (place.formation == nullptr) {
    // A group of one rank has no peers to notify and may have no store. Without
    // a store there is no way to notify any.
    if (place.size == 1 || place.store == nullptr) {
      return factory(std::move(place), deadline);
    }
    auto formation = Formation::Begin(place.store, place.rank, deadline);
    if (!formation.ok()) return formation.status();
    place.formation = *std::move(formation);
  }
  const std::shared_ptr<Formation> formation = place.formation;
  place.store = std::make_shared<FormingStore>(place.store, formation);
  auto transport = factory(std::move(place), deadline);
  if (!transport.ok()) transport = formation->Fail(transport.status());
  formation->End();
  return transport;
}

}  // namespace muster
