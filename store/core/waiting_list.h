#ifndef MUSTER_STORE_CORE_WAITING_LIST_H_
#define MUSTER_STORE_CORE_WAITING_LIST_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/core/store_effects.h"

namespace muster::store {

// The clients that wait for keys, in FIFO order. A wait ends once each of its
// keys has existed at some time since the wait began; as in PyTorch, the keys
// need not exist at the same time.
class WaitingList {
 public:
  // Approximate memory of one awaited key in addition to its bytes: two map
  // nodes.
  static constexpr size_t kBytesPerKey = 160;

  // Adds a wait. `keys`: the keys that do not exist yet; not empty. The client
  // must not be waiting.
  void Add(StoreClientId client, const std::vector<std::string_view>& keys);

  // The key exists now. Removes and returns the clients whose wait ends, in
  // FIFO order.
  std::vector<StoreClientId> Ready(std::string_view key);

  // The key now has one element for one client. Removes and returns the first
  // client whose wait ends by it.
  std::optional<StoreClientId> ReadyForOne(std::string_view key);

  // Ends the client's wait, if any.
  void Remove(StoreClientId client);

  bool Waits(StoreClientId client) const { return waits_.contains(client); }
  size_t clients() const { return waits_.size(); }
  // Whether no client waits. O(1), since it is called on every change.
  bool empty() const { return queues_.empty(); }
  // Approximate memory in bytes.
  size_t bytes() const { return bytes_; }

 private:
  // Sorted by arrival.
  using Queue = std::map<uint64_t, StoreClientId>;
  using Queues = std::map<std::string, Queue, std::less<>>;
  struct Wait {
    uint64_t ticket;
    // Keys that have not existed since the wait began.
    std::map<std::string_view, Queues::iterator> missing;
  };

  // Notes that `key` exists for this client; returns whether its wait is over.
  bool Saw(StoreClientId client, std::string_view key);

  Queues queues_;
  std::map<StoreClientId, Wait> waits_;
  uint64_t next_ticket_ = 0;
  size_t bytes_ = 0;
};

}  // namespace muster::store

#endif  // MUSTER_STORE_CORE_WAITING_LIST_H_
