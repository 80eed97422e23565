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

namespace muster {

// Cuts what a hub's connections send into requests of clients, and hands those
// to the service.
class RequestIntake {
 public:
  // Whether a connection may become a relay's, with many clients.
  enum class Relays { kTaken, kRefused };

  // Both outlive it.
  RequestIntake(Relays relays, StoreService* service, ChannelTable* channels)
      : relays_(relays), service_(service), channels_(channels) {}

  // Takes one request, frame or part of the upstream's bytes from the front of
  // `bytes`: its length, 0 if nothing whole is there, or why the connection
  // ends. Clients of a relay that it says are gone are appended to `gone`.
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
  // Used anew for each, so that a request allocates nothing.
  StoreRequest request_;
};

}  // namespace muster

#endif  // MUSTER_STORE_SERVER_REQUEST_INTAKE_H_
