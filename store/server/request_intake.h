#ifndef MUSTER_STORE_SERVER_REQUEST_INTAKE_H_
#define MUSTER_STORE_SERVER_REQUEST_INTAKE_H_

#include <cstddef>
#include <deque>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "store/core/store_effects.h"
#include "store/server/buffer_budget.h"
#include "store/server/store_connection.h"
#include "store/server/store_service.h"
#include "store/wire/request.h"

namespace muster::store {

// Decides whether a connection's requests may be handled now, or must wait. A
// connection that waits is stalled: it is not read from. Pure.
class RequestGate {
 public:
  // The arguments must outlive this object.
  RequestGate(const BufferBudget* budget, const StoreService* service)
      : budget_(budget), service_(service) {}

  // Whether the connection's next request must wait for a reason of its own
  // (unread replies, a service that has no turn for it) or for the upstream's
  // buffer. Sending its next reply, or TakeUpstreamRoom, resumes it. `upstream`
  // may be null.
  bool MustStall(const StoreConnection& connection,
                 const StoreConnection* upstream);
  // Whether connections may be stalled because of the upstream, and its buffer
  // has room again. The caller resumes them.
  bool TakeUpstreamRoom(const StoreConnection& upstream);

  // Whether new requests must wait, because the buffer budget is spent or
  // others wait for it already.
  bool RequestsWait() const {
    return budget_->RequestsWait() || !queue_.empty();
  }
  // Stalls the connection until the buffer budget has room and its turn has
  // come.
  void Enqueue(StoreConnection& connection);
  // Whether TakeNext may be called: the budget has room for the first in line.
  bool HasTurn() const { return !queue_.empty() && !budget_->RequestsWait(); }
  // Removes and returns the first in line, which may be gone.
  StoreClientId TakeNext();

 private:
  const BufferBudget* const budget_;
  const StoreService* const service_;
  // FIFO of the connections that are paused because the buffer budget is spent.
  // May contain ids of closed connections.
  std::deque<StoreClientId> queue_;
  // Whether connections may be stalled because of the upstream.
  bool upstream_was_full_ = false;
};

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
