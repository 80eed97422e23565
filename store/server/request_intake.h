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

// Decides whether a connection's requests are handled now or must wait. A
// connection whose requests wait is stalled: nothing is read from it. Pure.
class RequestGate {
 public:
  // `budget` and `service` must outlive this object.
  RequestGate(const BufferBudget* budget, const StoreService* service)
      : budget_(budget), service_(service) {}

  // Whether the connection's next request must wait: the client has too many
  // unread replies, the service cannot handle the request yet, or the buffer of
  // `upstream` is full. `upstream`: the connection of a relay to the store
  // server; null: there is none. The wait can end when the client has read
  // replies or gets a reply, or when TakeUpstreamRoom returns true.
  bool MustStall(const StoreConnection& connection,
                 const StoreConnection* upstream);
  // Returns true if the buffer of the upstream connection has room again after
  // it was full. The caller then resumes the connections that were stalled
  // because of the full buffer.
  bool TakeUpstreamRoom(const StoreConnection& upstream);

  // Whether new requests must wait: the buffer budget is spent, or stalled
  // connections already wait for it in a FIFO.
  bool RequestsWait() const {
    return budget_->RequestsWait() || !queue_.empty();
  }
  // Stalls the connection (its requests wait and nothing is read from it), and
  // adds it to the FIFO of connections that wait for the buffer budget.
  void Enqueue(StoreConnection& connection);
  // Whether a connection may be taken with TakeNext: the FIFO is not empty and
  // the budget has room.
  bool HasTurn() const { return !queue_.empty() && !budget_->RequestsWait(); }
  // Removes and returns the first connection of the FIFO of connections that
  // wait for the buffer budget. The connection may be closed already.
  StoreClientId TakeNext();

 private:
  const BufferBudget* const budget_;
  const StoreService* const service_;
  // Ids of the stalled connections whose requests wait because the buffer
  // budget is spent, in FIFO order. Some may be closed already.
  std::deque<StoreClientId> queue_;
  // Whether connections may be stalled because the buffer of the upstream (a
  // relay's connection to the store server) was full. MustStall sets this;
  // TakeUpstreamRoom resets it when the buffer has room again.
  bool upstream_was_full_ = false;
};

// Splits the bytes that a StoreHub (the network loop of a store server or
// relay) receives into requests of clients, and passes these to the service.
class RequestIntake {
 public:
  // Whether a client may turn its connection into that of a relay, which
  // carries the requests of many clients. kTaken: yes. kRefused: no.
  enum class Relays { kTaken, kRefused };

  // `service` and `channels` must outlive this object.
  RequestIntake(Relays relays, StoreService* service, ChannelTable* channels)
      : relays_(relays), service_(service), channels_(channels) {}

  // Handles one request, frame or piece of upstream data at the front of
  // `bytes`. Returns the number of bytes handled; 0: more bytes are needed.
  // After an error the connection must be closed. Appends to `gone` the clients
  // that a relay has reported as disconnected.
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
