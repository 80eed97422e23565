#ifndef MUSTER_STORE_SERVER_STORE_SERVICE_H_
#define MUSTER_STORE_SERVER_STORE_SERVICE_H_

#include <cstddef>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "store/core/store_effects.h"
#include "store/wire/command.h"
#include "store/wire/request.h"

namespace muster {

// What a hub of connections serves: the store itself, or a relay to one. Called
// from the hub's thread only.
class StoreService {
 public:
  virtual ~StoreService() = default;

  // A whole request. PING, VALIDATE and RELAY come here too where they came
  // from a client, save RELAY at a hub that takes relays.
  virtual void OnRequest(StoreClientId client, StoreFraming framing,
                         const StoreRequest& request,
                         StoreEffects* effects) = 0;

  // Whether the client's next request may come: if not, it stays unread until
  // something is sent to the client.
  virtual bool MayGoOn(StoreClientId client) const = 0;

  // The client's connection ended.
  virtual void OnGone(StoreClientId client, StoreEffects* effects) = 0;

  // Whether OnTick is to come although no client does anything.
  virtual bool WantsTicks() const = 0;
  // Comes at the hub's ticks while WantsTicks, the first time at any moment.
  virtual void OnTick(StoreEffects* effects) = 0;

  // Bytes of the upstream connection that were not consumed yet; how many are.
  // An error ends the hub.
  virtual absl::StatusOr<size_t> OnUpstream(std::string_view bytes,
                                            StoreEffects* effects) = 0;
};

}  // namespace muster

#endif  // MUSTER_STORE_SERVER_STORE_SERVICE_H_
