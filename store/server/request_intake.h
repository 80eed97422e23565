#ifndef MUSTER_STORE_SERVER_REQUEST_INTAKE_H_
#define MUSTER_STORE_SERVER_REQUEST_INTAKE_H_

#include <cstddef>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "store/core/store_effects.h"
#include "store/server/channel_table.h"
#include "store/server/store_connection.h"
#include "store/server/store_service.h"
#include "store/wire/request.h"

namespace muster::store {

// Splits the bytes received by a hub into requests of clients, and passes these
// to the service.
class RequestIntake {
 public:
  // Whether a connection may become a relay's, with many clients.
  enum class Relays { kTaken, kRefused };

  // `service` and `channels` must outlive this object.
  RequestIntake(Relays relays, StoreService* service, ChannelTable* channels)
      : relays_(relays), service_(service), channels_(channels) {}

  // Handles one request, frame or piece of upstream data at the front of
  // `bytes`. Returns its length, 0 if it is incomplete, or the error for which
  // the connection must be closed. Appends to `gone` the clients that a relay
  // has reported gone.
  absl::StatusOr<size_t> TakeOne(StoreConnection& connection,
                                 std::string_view bytes, StoreEffects* effects,
                                 std::vector<StoreClientId>* gone);

 private:
  absl::StatusOr<size_t> TakeRequest(StoreConnection& connection,
                                     std::string_view bytes,
                                     StoreEffects* effects);
  absl::StatusOr<size_t> TakeFrame(StoreConnection& connection,
                                   std::string_view bytes,
                                   StoreEffects* effects,
                                   std::vector<StoreClientId>* gone);

  const Relays relays_;
  StoreService* const service_;
  ChannelTable* const channels_;
  // Reused for each request to avoid allocations.
  StoreRequest request_;
};

}  // namespace muster::store

#endif  // MUSTER_STORE_SERVER_REQUEST_INTAKE_H_
