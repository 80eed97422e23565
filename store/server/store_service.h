#ifndef MUSTER_STORE_SERVER_STORE_SERVICE_H_
#define MUSTER_STORE_SERVER_STORE_SERVICE_H_

#include <cstddef>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "store/core/store_effects.h"
#include "store/wire/request.h"

namespace muster::store {

// Handles the requests of the clients that are connected to a StoreHub. A
// service is the store itself, or a relay to it. All methods are called on the
// hub's thread.
class StoreService {
 public:
  virtual ~StoreService() = default;

  // Handles one complete request of a client, even a PING or VALIDATE. Must
  // refuse a RELAY that is inside of a relay's frame; the StoreHub, which reads
  // the requests, handles every other RELAY itself.
  virtual void OnRequest(StoreClientId client, StoreFraming framing,
                         const StoreRequest& request,
                         StoreEffects* effects) = 0;

  // Whether the client's next request may be handled now. If not, the caller (a
  // StoreHub) asks again only after it has sent a reply to this client.
  virtual bool MayGoOn(StoreClientId client) const = 0;

  // Called when the client's connection has ended.
  virtual void OnGone(StoreClientId client, StoreEffects* effects) = 0;

  // The memory that the service holds for its clients, in bytes. O(1).
  virtual size_t bytes() const = 0;

  // Whether OnTick must be called even if no client sends anything.
  virtual bool WantsTicks() const = 0;
  // Called at intervals of StoreHubOptions::tick while WantsTicks returns true.
  // The first call may come earlier.
  virtual void OnTick(StoreEffects* effects) = 0;

  // Handles the bytes that the upstream connection (from a relay to the store)
  // has received and this service has not consumed yet. Returns the number of
  // bytes consumed. After an error the relay closes all its connections and
  // ends.
  virtual absl::StatusOr<size_t> OnUpstream(std::string_view bytes,
                                            StoreEffects* effects) = 0;
};

}  // namespace muster::store

#endif  // MUSTER_STORE_SERVER_STORE_SERVICE_H_
