#ifndef MUSTER_STORE_CORE_WAITING_LISTS_H_
#define MUSTER_STORE_CORE_WAITING_LISTS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "store/core/store_effects.h"

namespace muster::store {

// The clients that wait for keys, in FIFO order. A wait ends once each of its
// keys has existed at some time since the wait began. As in PyTorch, the keys
// need not all exist at the same time.
class WaitingList {
 public:
  // Approximate memory of one awaited key in addition to its bytes: two map
  // nodes.
  static constexpr size_t kBytesPerKey = 160;

  // Adds a wait. `keys`: the awaited keys that do not exist yet; must not be
  // empty. The client must not be waiting.
  void Add(StoreClientId client, const std::vector<std::string_view>& keys);

  // Notes that `key` now exists. Removes and returns the clients whose wait
  // ends, in FIFO order.
  std::vector<StoreClientId> Ready(std::string_view key);

  // Notes that the queue `key` has an element for one client. Removes and
  // returns the first client whose wait ends because of this element; nullopt:
  // none.
  std::optional<StoreClientId> ReadyForOne(std::string_view key);

  // Removes the client from the waiting clients. No effect if it does not wait.
  void Remove(StoreClientId client);

  bool Waits(StoreClientId client) const { return waits_.contains(client); }
  size_t clients() const { return waits_.size(); }
  // Whether no client waits. O(1), since it is called on every change of a key.
  bool empty() const { return queues_.empty(); }
  // Approximate memory of all waits in bytes.
  size_t bytes() const { return bytes_; }

 private:
  // The clients that wait for one key of the store, in the order in which they
  // began to wait. The map's key is the number of the wait (Wait::ticket).
  using Queue = std::map<uint64_t, StoreClientId>;
  using Queues = std::map<std::string, Queue, std::less<>>;
  struct Wait {
    uint64_t ticket;
    // The awaited keys that have not existed at any time since the wait began,
    // each with its queue in `queues_`.
    std::map<std::string_view, Queues::iterator> missing;
  };

  // Records that `key`, for which the client waits, exists now. Returns whether
  // the client's wait is over.
  bool Saw(StoreClientId client, std::string_view key);

  Queues queues_;
  std::map<StoreClientId, Wait> waits_;
  uint64_t next_ticket_ = 0;
  size_t bytes_ = 0;
};

// Holds the clients that have an offer, and the queue of each. An offer begins
// when a WAIT ends because of one element of a queue. The offer reserves an
// element for this client until the client's next request, which should pop the
// element, or until TakeOld ends the offer.
class OfferList {
 public:
  // Approximate memory of one offer, in addition to the bytes of the queue's
  // name.
  static constexpr size_t kBytesPerOffer = 160;

  // Reserves an element of `queue` for `client`, which must not have an offer.
  void Add(StoreClientId client, std::string_view queue);

  // Ends the client's offer. Returns the name of the queue in which an element
  // was reserved; nullopt: the client had no offer.
  std::optional<std::string> Take(StoreClientId client);

  // Ends all offers (reservations of a queue's element for a client) that
  // existed at the previous call of TakeOld. Returns the names of their queues,
  // one entry for each offer.
  std::vector<std::string> TakeOld();

  // The number of offers of `queue`: of clients for which one of its elements
  // is reserved.
  size_t CountOf(std::string_view queue) const;
  bool empty() const { return offers_.empty(); }
  size_t bytes() const { return bytes_; }

 private:
  // Key: name of a queue; value: number of its elements that are offered to
  // (reserved for) clients.
  using Counts = std::map<std::string, size_t, std::less<>>;
  struct Offer {
    Counts::iterator queue;
    // Whether this offer (a queue's element that is reserved for a client)
    // already existed at the last call of TakeOld.
    bool old = false;
  };
  using Offers = std::map<StoreClientId, Offer>;

  // Removes the offer at the iterator `*offer`, and advances the iterator to
  // the next offer. Returns the name of the queue of the removed offer.
  std::string Remove(Offers::iterator* offer);

  Counts counts_;
  Offers offers_;
  size_t bytes_ = 0;
};

// The clients that wait at barriers. The number of clients that have arrived is
// kept by StoreCore, as the value of the barrier's key.
class BarrierList {
 public:
  // Approximate memory of one waiting client, in addition to the bytes of the
  // barrier's key.
  static constexpr size_t kBytesPerClient = 240;

  // Makes `client` wait at the barrier until `world` clients have arrived. The
  // client must not be waiting at a barrier.
  void Add(StoreClientId client, std::string_view key, int64_t world);

  // Call when `count` clients have arrived at the barrier `key`. Removes and
  // returns the waiting clients whose world size is at most `count`, sorted by
  // world size, smallest first, and then by arrival.
  std::vector<StoreClientId> Reached(std::string_view key, int64_t count);

  // Removes `client` from the barrier at which it waits. Returns the barrier's
  // key; nullopt if the client was not waiting at a barrier.
  std::optional<std::string> Remove(StoreClientId client);

  bool Waits(StoreClientId client) const { return stands_.contains(client); }
  size_t clients() const { return stands_.size(); }
  // Whether no client waits at any barrier.
  bool empty() const { return queues_.empty(); }
  size_t bytes() const { return bytes_; }

 private:
  // World size and arrival number of a waiting client. The order of these pairs
  // is the order in which Reached returns the clients.
  using Place = std::pair<int64_t, uint64_t>;
  using Queue = std::map<Place, StoreClientId>;
  using Queues = std::map<std::string, Queue, std::less<>>;
  struct Stand {
    Place place;
    Queues::iterator queue;
  };

  Queues queues_;
  std::map<StoreClientId, Stand> stands_;
  uint64_t next_ticket_ = 0;
  size_t bytes_ = 0;
};

// The clients that are notified of every change of a key (WATCH_KEY of the old
// framing). No client of PyTorch's Python API uses it.
class WatchList {
 public:
  static constexpr size_t kBytesPerWatch = 240;

  // Adds a watch. Idempotent for each client and key.
  void Add(StoreClientId client, std::string_view key);
  void Remove(StoreClientId client);

  // Whether there are no watches. O(1), since it is called on every change of a
  // key.
  bool empty() const { return keys_.empty(); }
  // Returns the clients that are notified of each change of `key`.
  const std::set<StoreClientId>& WatchersOf(std::string_view key) const;
  size_t bytes() const { return bytes_; }

 private:
  std::map<std::string, std::set<StoreClientId>, std::less<>> keys_;
  std::map<StoreClientId, std::set<std::string>> clients_;
  size_t bytes_ = 0;
};

}  // namespace muster::store

#endif  // MUSTER_STORE_CORE_WAITING_LISTS_H_
