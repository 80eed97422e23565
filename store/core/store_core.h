#ifndef MUSTER_STORE_CORE_STORE_CORE_H_
#define MUSTER_STORE_CORE_STORE_CORE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/core/store_effects.h"
#include "store/core/waiting_lists.h"
#include "store/wire/request.h"

namespace muster::store {

// A round's key-value store without its sockets: keys, queues, barriers and
// waiting clients. Pure: the effects of a request depend only on the requests
// before it. docs/STORE.md lists the differences from PyTorch's server and the
// reasons.
class StoreCore {
 public:
  // `max_bytes`: limit of the memory for keys, values, queues and waits,
  // including their overhead. A request that exceeds it closes its client's
  // connection, since the protocol has no error replies.
  explicit StoreCore(size_t max_bytes) : max_bytes_(max_bytes) {}

  // Handles one request of one client and appends the effects to `effects`.
  void Apply(StoreClientId client, const StoreRequest& request,
             StoreEffects* effects);

  // Ends the wait of `client` for keys or at a barrier, because the client has
  // given up waiting. The client gets no reply.
  void DropWait(StoreClientId client, StoreEffects* effects);

  // Removes a disconnected client, with its wait, its arrival at a barrier and
  // its watches of keys. If this lets other clients continue, adds the replies
  // to these clients to the effects.
  void Forget(StoreClientId client, StoreEffects* effects);

  // Whether any queue element is reserved for a client.
  bool HasOffers() const { return !offers_.empty(); }
  // Ends all offers (reserved queue elements) that existed at the previous
  // call, so that other waiting clients get the elements. Must be called
  // periodically while HasOffers.
  void AgeOffers(StoreEffects* effects);

  size_t keys() const { return values_.size(); }
  // The number of clients that wait for keys or at barriers.
  size_t waiting() const { return waits_.clients() + barriers_.clients(); }
  size_t bytes() const;

 private:
  using Values = std::map<std::string, std::string, std::less<>>;
  using Queues = std::map<std::string, std::deque<std::string>, std::less<>>;
  enum class There { kNo, kAsKey, kAsQueue };

  void Perform(StoreClientId client, const StoreRequest& request,
               StoreEffects* effects);
  void CompareSet(StoreClientId client, const StoreRequest& request,
                  StoreEffects* effects);
  void Add(StoreClientId client, const StoreRequest& request,
           StoreEffects* effects);
  void Wait(StoreClientId client, const StoreRequest& request,
            StoreEffects* effects);
  void Delete(StoreClientId client, const StoreRequest& request,
              StoreEffects* effects);
  void Append(StoreClientId client, const StoreRequest& request,
              StoreEffects* effects);
  void MultiGet(StoreClientId client, const StoreRequest& request,
                StoreEffects* effects);
  void MultiSet(StoreClientId client, const StoreRequest& request,
                StoreEffects* effects);
  void Push(StoreClientId client, const StoreRequest& request,
            StoreEffects* effects);
  void Pop(StoreClientId client, const StoreRequest& request,
           StoreEffects* effects);
  void ListKeys(StoreClientId client, StoreEffects* effects);
  void Barrier(StoreClientId client, const StoreRequest& request,
               StoreEffects* effects);
  void Watch(StoreClientId client, const StoreRequest& request,
             StoreEffects* effects);

  There Find(std::string_view key) const;
  // Stores the value, then wakes the clients that wait for `key` and notifies
  // its watchers.
  void Put(std::string_view key, std::string value, StoreEffects* effects);
  // Adds `amount` to the number stored under the request's key, and returns the
  // sum. `beside`: memory in bytes that the request needs in addition to the
  // stored sum.
  //
  // Closes the client's connection and returns nullopt in three cases: the
  // stored value is not a number; the sum exceeds 64 bits; the store's memory
  // limit has no room for the sum and `beside`.
  std::optional<int64_t> Increase(StoreClientId client,
                                  const StoreRequest& request, int64_t amount,
                                  size_t beside, StoreEffects* effects);
  void TellWatchers(uint8_t what, std::string_view key, std::string_view before,
                    std::string_view now, StoreEffects* effects);
  // Whether the queue has an element that is not reserved for a client.
  bool HasSpare(std::string_view queue) const;
  // If the queue has an element that is not reserved for a client, reserves it
  // for the first client that waits for the queue, and ends this client's wait.
  void OfferToNext(std::string_view queue, StoreEffects* effects);
  // The number of bytes by which the memory grows if the key's value is
  // replaced by a value of `size` bytes.
  size_t Growth(std::string_view key, size_t size) const;
  // Whether `bytes` more bytes fit into the memory limit. If not, closes the
  // client's connection. 0 bytes always fit.
  bool HasRoom(StoreClientId client, const StoreRequest& request, size_t bytes,
               StoreEffects* effects);

  const size_t max_bytes_;
  Values values_;
  Queues queues_;
  WaitingList waits_;
  BarrierList barriers_;
  WatchList watches_;
  // The offers. An offer is a queue element that is reserved for a client whose
  // WAIT for this queue has ended. An offer ends with the client's next
  // request, or when the offer expires (AgeOffers). If the client has not
  // popped the element by then, the element is offered to the next waiting
  // client. Invariant: if a queue has an unreserved element, no client waits
  // for that queue alone.
  OfferList offers_;
  // Memory of the values and queues, in bytes.
  size_t stored_bytes_ = 0;
};

}  // namespace muster::store

#endif  // MUSTER_STORE_CORE_STORE_CORE_H_
